// @ts-check
// `weir serve` between honest and hostile peers, all of them processes of their own.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kill, secondsUntil } from '../chaos/common.mjs';
import { fixture, start } from '../chaos/subjects.mjs';
import { Probe } from './measure.mjs';

/** @typedef {import('./honest-clients.mjs').Honest} Honest */
/** @typedef {import('./measure.mjs').Figures} Figures */

/**
 * @typedef {object} Peers
 * @property {readonly string[]} [servers] attacks of hostile-server.mjs; each is the key of its server
 * @property {readonly (readonly string[])[]} [clients] scripts of this folder, each with the arguments that follow URL and token
 * @property {Record<string, object>} [entries] further servers that attacks need
 * @property {number} [honest] honest servers, and as many clients that call all of them
 */

/**
 * Milliseconds of processor time, and when they were burnt, in milliseconds from the beginning of an attack.
 * @typedef {{ at: number; ms: number }} Burn
 */

/**
 * @typedef {object} Outcome
 * @property {Honest} honest
 * @property {Figures | undefined} figures undefined where the gateway has ended
 * @property {boolean} isAlive
 * @property {string[]} mistakes lines of the log in which the gateway tells of its own
 * @property {number} left processes that outlived the gateway
 * @property {Record<string, Burn[]>} burns by the name of the hostile peer
 */

const MARK = 'CHAOS_MARK';
/** The hostile ones begin their attack within this time after the start. */
const WARM_UP_MS = 1000;
/** A gateway that does not answer for so long counts as standing still. */
const STANDSTILL_MS = 20_000;

/**
 * @param {Peers} peers
 * @param {{ seconds: number; gateway?: string | undefined }} options
 * @returns {Promise<Outcome>}
 */
export async function fight({ servers = [], clients = [], entries = {}, honest = 2 }, { seconds, gateway }) {
  const mark = randomUUID();
  const notes = mkdtempSync(join(tmpdir(), 'weir-burns-'));
  const markOf = (/** @type {string} */ name) => ({
    [MARK]: `${mark} ${name}`,
    WEIR_BURNS: join(notes, name),
    NODE_OPTIONS: `--import=${new URL('note-burns.mjs', import.meta.url).href}`,
  });
  const probe = new Probe();
  const kept = honestServers(honest);
  const hostile = Object.fromEntries(servers.map((mode) => [mode, hostileServer(mode, markOf(mode))]));
  const others = Object.entries(entries).map(([key, entry]) => [key, { ...entry, env: markOf(key) }]);
  const subject = await start(
    'weir serve',
    { ...kept, ...Object.fromEntries(others), ...hostile },
    { gateway, probe, expected: Object.keys(kept) },
  );
  const { url, token = '' } = subject;
  await subject.client.close();
  await probe.begin({ url });
  const began = Date.now();
  const children = clients.map(([script = '', ...args]) =>
    run(script, [url, token, ...args], markOf(['client', ...args].join(' '))),
  );
  if (children.length > 0) await delay(WARM_UP_MS);
  const seen = await callHonestly(subject, kept, seconds);
  const isAlive = subject.isRunning;
  const figures = await figuresOf(probe);
  for (const child of children) child.kill('SIGKILL');
  await subject.end();
  const left = await leftOf(mark);
  const burns = takeBurns(notes, began);
  return { honest: seen, figures, isAlive, mistakes: mistakesIn(subject.log), left, burns };
}

/**
 * Returns undefined where the gateway has ended, or stands still for so long that it cannot be asked.
 * @param {Probe} probe
 */
export function figuresOf(probe) {
  return Promise.race([probe.end().catch(() => undefined), delay(STANDSTILL_MS, undefined)]);
}

/**
 * Counts the processes that outlive the gateway by some seconds, and kills them.
 * @param {string} mark
 */
async function leftOf(mark) {
  if ((await secondsUntil(5, () => marks(mark).size === 0)) !== undefined) return 0;
  const left = [...marks(mark).keys()];
  left.forEach((pid) => kill(pid));
  return left.length;
}

/**
 * The same honest load on a gateway of its own, beside processes that use as much CPU at the same times and are connected to nothing.
 * @param {number} honest
 * @param {readonly (readonly Burn[])[]} burns
 * @param {{ seconds: number; gateway?: string | undefined }} options
 */
export async function callBeside(honest, burns, { seconds, gateway }) {
  const kept = honestServers(honest);
  const subject = await start('weir serve', kept, { gateway });
  await subject.client.close();
  const burners = burns.map((all) => {
    const child = run('burner.mjs', [], {});
    child.stdin.write(`${JSON.stringify(all)}\n`);
    return child;
  });
  await delay(WARM_UP_MS);
  const seen = await callHonestly(subject, kept, seconds);
  for (const child of burners) child.kill('SIGKILL');
  await subject.end();
  return seen;
}

/** @param {number} count */
export function honestServers(count) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`h${i}`, fixture(i % 2 === 0 ? 'echo' : 'modern')]),
  );
}

/**
 * @param {string} mode
 * @param {Record<string, string>} env
 */
function hostileServer(mode, env) {
  const script = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
  return { command: process.execPath, args: [script, mode], env };
}

/**
 * Calls the first tool of each honest server, by as many clients as there are servers.
 * @param {Awaited<ReturnType<typeof start>>} subject
 * @param {Record<string, object>} kept
 * @param {number} seconds
 * @returns {Promise<Honest>}
 */
async function callHonestly(subject, kept, seconds) {
  const { url, token = '' } = subject;
  const tools = Object.keys(kept).map((key) => subject.tool(key, 'echo'));
  const child = run('honest-clients.mjs', [url, token, String(tools.length), String(seconds), ...tools], {});
  const said = await text(child.stdout);
  return JSON.parse(said);
}

/**
 * @param {string} script
 * @param {readonly string[]} args
 * @param {Record<string, string>} env
 */
function run(script, args, env) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, [path, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    // Each of these ends with its stdin, whatever happens to this process.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** @param {string} log */
export function mistakesIn(log) {
  return log
    .split('\n')
    .filter((line) => /mistake of|Internal error|Unexpected error|RangeError|TypeError/u.test(line));
}

/**
 * Reads what hostile peers have burnt, and removes the folder of their notes.
 * @param {string} notes
 * @param {number} began
 * @returns {Record<string, Burn[]>}
 */
function takeBurns(notes, began) {
  const burns = readdirSync(notes).map((name) => {
    const lines = readFileSync(join(notes, name), 'latin1').trim().split('\n');
    const all = lines.map((line) => line.split(' ').map(Number));
    return [
      name,
      all.map(([at = 0, ms = 0]) => ({ at: at - began, ms })).sort((one, other) => one.at - other.at),
    ];
  });
  rmSync(notes, { recursive: true });
  return Object.fromEntries(burns);
}

/**
 * The names of the processes whose mark begins with this, by pid.
 * @param {string} mark
 * @returns {Map<number, string>}
 */
function marks(mark) {
  /** @type {Map<number, string>} */
  const found = new Map();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const name = readProc(pid, 'environ').split(`${MARK}=${mark} `)[1]?.split('\0')[0];
    if (name !== undefined) found.set(pid, name);
  }
  return found;
}

/**
 * @param {number} pid
 * @param {string} file
 */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
