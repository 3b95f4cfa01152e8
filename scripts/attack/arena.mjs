// @ts-check
// `weir serve` between honest and hostile peers, all of them processes of their own.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
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
 * `cpu` is how much of a processor each hostile peer took on average.
 * @typedef {object} Outcome
 * @property {Honest} honest
 * @property {Figures | undefined} figures undefined where the gateway has ended
 * @property {boolean} isAlive
 * @property {string[]} mistakes lines of the log in which the gateway tells of its own
 * @property {number} left processes that outlived the gateway
 * @property {Record<string, number>} cpu
 */

const MARK = 'CHAOS_MARK';
/** The hostile ones begin their attack within this time after the start. */
const WARM_UP_MS = 1000;
/** A gateway that does not answer for so long counts as standing still. */
const STANDSTILL_MS = 20_000;
const SAMPLE_MS = 250;
/** Clock ticks of a second, as Linux counts the time of processes for all programs. */
const TICKS = 100;

/**
 * @param {Peers} peers
 * @param {{ seconds: number; gateway?: string | undefined }} options
 * @returns {Promise<Outcome>}
 */
export async function fight({ servers = [], clients = [], entries = {}, honest = 2 }, { seconds, gateway }) {
  const mark = randomUUID();
  const probe = new Probe();
  const kept = honestServers(honest);
  const hostile = Object.fromEntries(servers.map((mode) => [mode, hostileServer(mode, mark)]));
  const others = Object.entries(entries).map(([key, entry]) => [key, marked(entry, `${mark} ${key}`)]);
  const subject = await start(
    'weir serve',
    { ...kept, ...Object.fromEntries(others), ...hostile },
    { gateway, probe, expected: Object.keys(kept) },
  );
  const { url, token = '' } = subject;
  await subject.client.close();
  await probe.begin({ url });
  const stopSampling = sampleCpu(mark);
  const children = clients.map((client) => hostileClient(client, url, token, mark));
  if (children.length > 0) await delay(WARM_UP_MS);
  const seen = await callHonestly(subject, kept, seconds);
  const isAlive = subject.isRunning;
  const figures = await figuresOf(probe);
  const cpu = stopSampling(seconds);
  for (const child of children) child.kill('SIGKILL');
  await subject.end();
  return { honest: seen, figures, isAlive, mistakes: mistakesIn(subject.log), left: await leftOf(mark), cpu };
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
 * The same honest load on a gateway of its own, beside processes that burn as much and are connected to nobody.
 * @param {number} honest
 * @param {readonly number[]} shares
 * @param {{ seconds: number; gateway?: string | undefined }} options
 */
export async function callBeside(honest, shares, { seconds, gateway }) {
  const kept = honestServers(honest);
  const subject = await start('weir serve', kept, { gateway });
  await subject.client.close();
  const burners = shares.map((share) => run('burner.mjs', [String(share)], {}));
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
 * @param {string} mark
 */
function hostileServer(mode, mark) {
  const script = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));
  return marked({ command: process.execPath, args: [script, mode] }, `${mark} ${mode}`);
}

/**
 * @param {object} entry
 * @param {string} mark
 */
function marked(entry, mark) {
  return { ...entry, env: { [MARK]: mark } };
}

/**
 * @param {readonly string[]} client
 * @param {string} url
 * @param {string} token
 * @param {string} mark
 */
function hostileClient([script = '', ...args], url, token, mark) {
  return run(script, [url, token, ...args], { [MARK]: `${mark} client ${args.join(' ')}` });
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
  return log.split('\n').filter((line) => /mistake of|Unexpected error|RangeError|TypeError/u.test(line));
}

/**
 * Looks at the processor time of all marked processes; the function returned ends that, and returns the share of each name.
 * @param {string} mark
 */
function sampleCpu(mark) {
  /** @type {Map<number, { name: string; ticks: number }>} */
  const seen = new Map();
  const sample = () => {
    for (const [pid, name] of marks(mark)) seen.set(pid, { name, ticks: ticksOf(pid) });
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return (/** @type {number} */ seconds) => {
    sample();
    clearInterval(timer);
    /** @type {Record<string, number>} */
    const shares = {};
    for (const { name, ticks } of seen.values()) shares[name] = (shares[name] ?? 0) + ticks / TICKS / seconds;
    return shares;
  };
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

/** @param {number} pid */
function ticksOf(pid) {
  const fields = readProc(pid, 'stat').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
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
