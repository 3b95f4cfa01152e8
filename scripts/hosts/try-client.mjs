// @ts-check
// Tries one client: installs it, runs it on each of its transports, with ":" in names, and before slow servers.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../steps.mjs';
import { install } from './install.mjs';
import { GREETING } from './kit-texts.mjs';
import { openScene } from './scene.mjs';
import { answerOf, findTool, hasAll, judge } from './seen.mjs';

/** @typedef {import('./clients.mjs').Client} Client */
/** @typedef {import('./scene.mjs').Transport} Transport */
/** @typedef {import('./seen.mjs').Verdict} Verdict */

/**
 * A client's part of the page. `names`: what it makes of `kit__echo` and of `kit:echo`, and whether calls arrive.
 * @typedef {object} ClientRow
 * @property {string} name
 * @property {string} version
 * @property {string} node
 * @property {string} date
 * @property {Partial<Record<Transport, Verdict>>} verdicts
 * @property {Partial<Record<Transport, string>>} failures Why a transport could not be tried.
 * @property {{ plain: string; colon: string; calls: boolean }} names
 * @property {string} question
 * @property {boolean} [atOnce] All tools were there although a server took its time, in hosts with a model.
 */

/** Longer than hosts wait that do not wait for all servers, and within the limit for a start. */
const SLOW_MS = 4000;
/** Some clients need a later Node than Weir does; the judges of the tests bring one. */
const NODE_24 = join(root, 'tests', 'judges', 'node_modules', 'node24', 'bin', 'node');

/**
 * @param {string} key
 * @param {Client} client
 * @returns {Promise<ClientRow>}
 */
export async function tryClient(key, client) {
  const folder = install(key, client.packages);
  const node = existsSync(NODE_24) ? NODE_24 : process.execPath;
  const row = emptyRow(client, node);
  const common = { folder, node };
  for (const transport of client.transports) {
    const seen = await attempt(client, { ...common, transport });
    if (seen instanceof Error) {
      row.failures[transport] = withoutPaths(seen.message);
      continue;
    }
    row.verdicts[transport] = judge(seen, client.unable);
    row.question = answerOf(seen);
    row.names.plain = nameOf(seen);
    if (seen.note !== undefined) row.failures[transport] = withoutPaths(seen.note);
  }
  const [transport = 'stdio'] = client.transports;
  if (row.verdicts[transport]?.calls !== 'yes') return row;
  const colon = await attempt(client, { ...common, transport, separator: ':' });
  if (!(colon instanceof Error))
    row.names = { ...row.names, colon: nameOf(colon), calls: colon.echo.includes(GREETING) };
  if (client.needsModel === true) row.atOnce = await trySlow(client, { ...common, transport });
  return row;
}

/**
 * Removes the paths of this machine from a text for the page.
 * @param {string} text
 */
function withoutPaths(text) {
  return text.replaceAll(`${root}/`, '').replaceAll(`${tmpdir()}/`, '');
}

/**
 * @param {Client} client
 * @param {string} node
 * @returns {ClientRow}
 */
function emptyRow({ name, packages }, node) {
  const [version = ''] = Object.values(packages);
  const date = new Date().toISOString().slice(0, 10);
  const release = node === NODE_24 ? '24' : process.versions.node;
  return {
    name,
    version,
    node: release,
    date,
    verdicts: {},
    failures: {},
    names: { plain: '', colon: '', calls: false },
    question: '',
  };
}

/** @param {import('./seen.mjs').Seen} seen */
function nameOf({ tools }) {
  return findTool(tools, 'kit_echo') ?? '';
}

/**
 * @param {Client} client
 * @param {import('./scene.mjs').SceneOptions} options
 */
async function trySlow(client, options) {
  const seen = await attempt(client, { ...options, delay: SLOW_MS });
  return !(seen instanceof Error) && hasAll(seen.atOnce ?? []);
}

/**
 * @param {Client} client
 * @param {import('./scene.mjs').SceneOptions} options
 */
async function attempt(client, options) {
  const scene = await openScene(options);
  try {
    return await client.run(scene);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await scene.close();
  }
}
