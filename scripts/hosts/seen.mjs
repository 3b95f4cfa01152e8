// @ts-check
// What a client saw of the gateway, and the verdict of each column.
import { FAILURE, GREETING, PASSWORD } from './kit-texts.mjs';
import { EXPECTED } from './scene.mjs';

/**
 * What one run showed. Texts are as the client (or its model) got them.
 * @typedef {object} Seen
 * @property {string[]} tools Names of all tools, as the client shows them.
 * @property {string[]} [atOnce] Tools of the model's very first turn.
 * @property {string} instructions All texts that may hold the instructions.
 * @property {string} echo Result of the call.
 * @property {string} failure Result of the call that fails.
 * @property {boolean} changed The tool that came later was listed.
 * @property {string} asked What came of the question to the user.
 * @property {string} [note]
 */

/** @typedef {'yes' | 'no' | 'cannot'} Mark `cannot`: the client has no such feature, or its interface does not show it. */

/** @typedef {{ connects: Mark; lists: Mark; calls: Mark; error: Mark; changed: Mark; instructions: Mark }} Verdict */

export const COLUMNS = /** @type {const} */ ([
  'connects',
  'lists',
  'calls',
  'error',
  'changed',
  'instructions',
]);

/**
 * @param {Seen} seen
 * @param {Partial<Record<keyof Verdict, string>>} [unable] Columns that the client has no means for, and why.
 * @returns {Verdict}
 */
export function judge(seen, unable = {}) {
  const is = {
    connects: findTool(seen.tools, EXPECTED[0] ?? '') !== undefined || seen.echo.includes(GREETING),
    lists: hasAll(seen.tools),
    calls: seen.echo.includes(GREETING),
    error: seen.failure.includes(FAILURE),
    changed: seen.changed,
    instructions: seen.instructions.includes(PASSWORD),
  };
  const mark = (/** @type {keyof Verdict} */ column) =>
    is[column] ? 'yes' : unable[column] !== undefined ? 'cannot' : 'no';
  return /** @type {Verdict} */ (Object.fromEntries(COLUMNS.map((column) => [column, mark(column)])));
}

/** @param {readonly string[]} tools */
export function hasAll(tools) {
  return EXPECTED.every((name) => findTool(tools, name) !== undefined);
}

/**
 * Says in a word what came of a server's question to the user.
 * @param {Seen} seen
 */
export function answerOf({ asked }) {
  const actions = { accept: 'answers', decline: 'declines', cancel: 'cancels' };
  for (const [action, word] of Object.entries(actions))
    if (new RegExp(`action\\W+${action}`).test(asked)) return word;
  if (asked.includes('-32601')) return 'does not support it';
  return asked.includes('no answer') ? 'leaves it open' : 'not seen';
}

/**
 * Finds a tool under the name that a host has made of it: with a prefix, other separators, a hash at the end.
 * @param {readonly string[]} tools
 * @param {string} name
 */
export function findTool(tools, name) {
  const pattern = new RegExp(`${name}(_[a-z0-9]{7,8})?$`);
  return tools.find((tool) => pattern.test(tool.toLowerCase().replaceAll(/[^a-z\d]+/g, '_')));
}
