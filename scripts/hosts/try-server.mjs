// @ts-check
// Asks one server directly and through the gateway, and compares definitions and results.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binOf } from './install.mjs';
import { withSession } from './line-session.mjs';
import { MASKS } from './masks.mjs';
import { BUNDLE, remove } from './scene.mjs';

/** @typedef {import('./servers.mjs').Server} Server */
/** @typedef {import('./line-session.mjs').Outcome} Outcome */
/** @typedef {'tools' | 'resources' | 'templates' | 'prompts'} List */

/**
 * @typedef {object} ServerRow
 * @property {string} name Of the package.
 * @property {string} version
 * @property {string} node
 * @property {string} date
 * @property {Record<List, number>} lists
 * @property {number} calls
 * @property {string[]} differing What was not equal.
 * @property {string[]} masked What no two runs have in common.
 * @property {string} [failure] Why it could not be tried.
 */

/** @typedef {{ lists: Record<List, string[]>; outcomes: string[] }} Answers */

/** @type {Record<List, { method: string; member: string }>} */
const LISTS = {
  tools: { method: 'tools/list', member: 'tools' },
  resources: { method: 'resources/list', member: 'resources' },
  templates: { method: 'resources/templates/list', member: 'resourceTemplates' },
  prompts: { method: 'prompts/list', member: 'prompts' },
};
const NAMES = /** @type {List[]} */ (Object.keys(LISTS));
/** Some servers add tools once they know their client. */
const SETTLE_MS = 500;
const MAX_PAGES = 100;

/**
 * @param {string} name
 * @param {Server} server
 * @param {string} installed The folder whose node_modules has it.
 * @returns {Promise<ServerRow>}
 */
export async function tryServer(name, server, installed) {
  const row = emptyRow(name, server);
  try {
    const direct = await ask(server, [binOf(installed, name)], false);
    const through = await ask(server, [binOf(installed, name)], true);
    for (const list of NAMES) row.lists[list] = direct.lists[list].length;
    row.differing = differences(direct, through, server);
  } catch (error) {
    row.failure = error instanceof Error ? error.message : String(error);
  }
  return row;
}

/**
 * @param {string} name
 * @param {Server} server
 * @returns {ServerRow}
 */
function emptyRow(name, { version, calls, masks = [] }) {
  return {
    name,
    version,
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    lists: { tools: 0, resources: 0, templates: 0, prompts: 0 },
    calls: calls.length,
    differing: [],
    masked: [...masks],
  };
}

/**
 * Both runs find the same folder at the same place.
 * @param {Server} server
 * @param {string[]} script
 * @param {boolean} isThrough
 */
async function ask({ args = () => [], env = {}, calls, masks = [] }, script, isThrough) {
  const folder = join(tmpdir(), 'weir-hosts-server');
  const state = mkdtempSync(join(tmpdir(), 'weir-hosts-state-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'poem.txt'), 'one\ntwo\nthree\n');
  const command = { command: process.execPath, args: [...script, ...args(folder)] };
  const common = { env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env }, cwd: folder };
  const config = join(state, 'mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { only: { ...command, env, startupTimeout: 60_000 } } }),
  );
  const gateway = [BUNDLE, '--config', config, '--state', state, '--no-prefix'];
  const server = { ...common, ...command, ...(isThrough && { args: gateway }) };
  try {
    return await withSession(server, async (request) => {
      const lists = await readLists(request);
      const outcomes = [];
      for (const { method = 'tools/call', ...params } of calls)
        outcomes.push(masked(JSON.stringify(await request(method, params)), masks));
      return { lists, outcomes };
    });
  } finally {
    for (const each of [folder, state]) await remove(each);
  }
}

/**
 * @param {(method: string, params?: object) => Promise<Outcome>} request
 * @returns {Promise<Answers['lists']>}
 */
async function readLists(request) {
  await request('tools/list');
  await sleep(SETTLE_MS);
  const lists = /** @type {Answers['lists']} */ ({});
  for (const name of NAMES) lists[name] = await readList(request, LISTS[name]);
  return lists;
}

/**
 * Returns the definitions of all pages; none where the server has no such list.
 * @param {(method: string, params?: object) => Promise<Outcome>} request
 * @param {{ method: string; member: string }} list
 */
async function readList(request, { method, member }) {
  /** @type {string[]} */
  const items = [];
  let cursor;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { result } = await request(method, cursor === undefined ? {} : { cursor });
    if (result === undefined) break;
    const content = JSON.parse(result);
    items.push(
      ...content[member].filter(isServers).map((/** @type {unknown} */ item) => JSON.stringify(item)),
    );
    cursor = content.nextCursor;
    if (cursor === undefined) break;
  }
  return items;
}

/**
 * Leaves out the gateway's own resource, which holds instructions that are too long for the handshake.
 * @param {{ uri?: string }} item
 */
function isServers({ uri = '' }) {
  return !uri.startsWith('weir://instructions/');
}

/**
 * @param {Answers} direct
 * @param {Answers} through
 * @param {Server} server
 */
function differences(direct, through, { calls }) {
  const lists = NAMES.filter((name) => direct.lists[name].join('\n') !== through.lists[name].join('\n'));
  const outcomes = calls
    .filter((_, index) => direct.outcomes[index] !== through.outcomes[index])
    .map(({ name, uri, method }) => name ?? uri ?? method ?? '');
  return [...lists, ...outcomes];
}

/**
 * @param {string} text
 * @param {readonly import('./masks.mjs').MaskName[]} masks
 */
function masked(text, masks) {
  return masks.reduce((left, name) => left.replaceAll(MASKS[name], `<${name}>`), text);
}
