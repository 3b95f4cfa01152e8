// @ts-check
// Entries for the gateway in the config files of hosts.

/** @typedef {import('./scene.mjs').Scene} Scene */

/**
 * Returns the entry that most hosts have in common; `type` is what they call Streamable HTTP.
 * @param {Scene} scene
 * @param {Record<string, unknown>} [more]
 */
export function entry({ transport, stdio, http }, more = {}) {
  if (transport === 'stdio') return { ...stdio, ...more };
  return { type: 'http', url: http.url, headers: bearer(http), ...more };
}

/** @param {{ token: string }} http */
export function bearer({ token }) {
  return { Authorization: `Bearer ${token}` };
}
