// @ts-check
// Servers that are tried, and the harmless calls that each is asked for.

/**
 * A call: `name` and `arguments` of a tool, or `method` with its own members.
 * @typedef {{ method?: string; name?: string; arguments?: object; uri?: string }} Call
 */

/**
 * @typedef {object} Server
 * @property {(folder: string) => string[]} [args] Arguments of its command; what it may read is in `folder`.
 * @property {Record<string, string>} [env]
 * @property {readonly Call[]} calls
 * @property {readonly import('./masks.mjs').MaskName[]} [masks]
 */

/** Exact versions; one folder holds them all. */
/** @type {Readonly<Record<string, string>>} */
export const SERVER_PACKAGES = {
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-memory': '2026.8.31',
};

/** @type {Readonly<Record<string, Server>>} */
export const SERVERS = {
  '@modelcontextprotocol/server-everything': {
    calls: [
      tool('echo', { message: 'Grüße, 世界 🌍' }),
      tool('get-sum', { a: 0.1, b: 0.2 }),
      tool('get-sum', { a: 'one' }),
    ],
  },
  '@modelcontextprotocol/server-memory': {
    calls: [tool('read_graph'), tool('search_nodes', { query: 'x' })],
  },
};

/**
 * @param {string} name
 * @param {object} [args]
 * @returns {Call}
 */
function tool(name, args = {}) {
  return { name, arguments: args };
}
