// @ts-check
// What is kept, and what may happen to those who write it. The store is that of `@weir/server`, taken from its source.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../steps.mjs';
import { finding, skipped } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

/** @typedef {import('@weir/server/store').Store} Store */
/** @typedef {'files' | 'encrypted'} Backend */
/** @typedef {{ program: string; open: (folder: string, backend?: Backend) => Promise<Store> }} Writers */

const WRITERS = 3;
const KEYS = 3;
const SIZE = 50_000;
const FITS = 'a record that does not fit is an error, and the old value stays';
const UNNOTICED = 'a gateway that cannot store anything answers its calls';
const except = { 'mcp-hub': 'it keeps no such state', 'mcp-proxy': 'it keeps no such state' };

/** @type {import('../chaos.mjs').Fault} */
export const killedWriters = {
  title: 'Processes are killed (SIGKILL) while they write to the state folder, three at a time',
  subjects: ['weir'],
  except,
  run: async (_name, { kills }) =>
    inFolder(async (home) => [await killWriters(await buildWriters(home), home, kills)]),
};

/** @type {import('../chaos.mjs').Fault} */
export const fullDisk = {
  title: 'The disk of the state folder is full',
  subjects: ['weir'],
  except,
  run: async (name, { gateway }) =>
    inFolder(async (home) => {
      const disk = tinyDisk(home);
      if (disk.reason !== undefined)
        return [FITS, UNNOTICED].map((promise) => skipped(promise, disk.reason ?? ''));
      try {
        const store = await (await buildWriters(home)).open(join(disk.folder, 'records'));
        return [await outgrow(store), await runOnFullDisk(name, disk.folder, gateway)];
      } finally {
        disk.unmount();
      }
    }),
};

/**
 * @template T
 * @param {(home: string) => Promise<T>} use
 */
async function inFolder(use) {
  const home = mkdtempSync(join(tmpdir(), 'weir-writers-'));
  try {
    return await use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * A program that writes until it is killed, and the store that it writes to.
 * @param {string} home
 * @returns {Promise<Writers>}
 */
export async function buildWriters(home) {
  const bundled = {
    bundle: true,
    platform: /** @type {const} */ ('node'),
    format: /** @type {const} */ ('esm'),
    conditions: ['@weir/source'],
  };
  const program = join(home, 'writer.mjs');
  const library = join(home, 'store.mjs');
  const writer = join(root, 'tests', 'fixtures', 'processes', 'state-writer.ts');
  const store = join(root, 'tests', 'fixtures', 'processes', 'open-store.ts');
  await build({ ...bundled, entryPoints: [writer], outfile: program });
  await build({ ...bundled, entryPoints: [store], outfile: library });
  /** @type {typeof import('../../tests/fixtures/processes/open-store.ts')} */
  const { openStore } = await import(pathToFileURL(library).href);
  return { program, open: openStore };
}

/**
 * Kills writers in the middle of their work; each time their records must be the old or the new ones.
 * @param {Writers} writers
 * @param {string} home
 * @param {number} kills
 * @param {Backend} [backend]
 */
export async function killWriters({ program, open }, home, kills, backend = 'encrypted') {
  const folder = join(home, `killed-${backend}`);
  const store = await open(folder, backend);
  const seen = { old: 0, new: 0, neither: 0 };
  const each = Array.from({ length: WRITERS }, async (_, w) => {
    const run = { program, folder, backend, prefix: `w${w}-`, keys: KEYS, rounds: 1e6, size: SIZE };
    await killAgainAndAgain(store, run, { kills: Math.ceil((kills - w) / WRITERS), seen });
  });
  await Promise.all(each);
  return finding(
    `after each of ${kills} kills every record is the old or the new one`,
    seen.neither === 0 && seen.old > 0 && (await store.list()).length >= WRITERS,
    `${seen.old} times the old, ${seen.new} times the new, ${seen.neither} times neither`,
  );
}

/** @typedef {{ program: string; folder: string; backend?: Backend; prefix: string; keys: number; rounds: number; size: number; first?: number }} Run */

/**
 * @param {Store} store
 * @param {Run} run
 * @param {{ kills: number; seen: { old: number; new: number; neither: number } }} options
 */
async function killAgainAndAgain(store, run, { kills, seen }) {
  /** @type {Map<string, number>} */
  const begun = new Map();
  /** @type {Map<string, number>} */
  const done = new Map();
  for (let k = 0; k < kills; k++) {
    let isDoomed = false;
    const first = Math.max(0, ...begun.values()) + 1;
    await write({ ...run, first }, (line, kill) => {
      const [what = '', key = '', n = ''] = line.split(' ');
      (what === 'begin' ? begun : done).set(key, Number(n));
      if (isDoomed || what !== 'done') return;
      isDoomed = true;
      setTimeout(kill, Math.random() * 8);
    });
    for (const [key, newest] of begun) {
      const n = await readNumber(store, `${run.prefix}${key}`);
      if (n === done.get(key)) seen.old++;
      else if (n === newest) seen.new++;
      else seen.neither++;
      if (n !== undefined) done.set(key, n);
    }
  }
}

/**
 * Runs a writer to its end, which `onLine` may bring about.
 * @param {Run} run
 * @param {(line: string, kill: () => void) => void} [onLine]
 * @returns {Promise<void>}
 */
export function write(
  { program, folder, backend = 'encrypted', prefix, keys, rounds, size, first = 1 },
  onLine = () => undefined,
) {
  const args = [program, folder, backend, prefix, keys, rounds, size, first].map(String);
  const env = { PATH: process.env['PATH'] };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => onLine(line, () => child.kill('SIGKILL')));
  return new Promise((resolve) => child.once('close', () => resolve()));
}

/**
 * The number of a record that is whole; NaN for one that is not.
 * @param {Store} store
 * @param {string} key
 */
async function readNumber(store, key) {
  const bytes = await store.get(key).catch(() => Buffer.from('{"n":null,"filler":""}'));
  if (bytes === undefined) return undefined;
  const value = /** @type {{ n: number; filler: string }} */ (JSON.parse(String(bytes)));
  return value.filler === String(value.n % 10).repeat(SIZE) ? value.n : Number.NaN;
}

/** @param {Store} store */
export async function outgrow(store) {
  await store.set('a', Buffer.from('old'));
  const error = await store.set('a', Buffer.alloc(1_000_000, 'x')).then(
    () => undefined,
    (/** @type {unknown} */ reason) => /** @type {Error} */ (reason),
  );
  const kept = String(await store.get('a'));
  await store.set('a', Buffer.from('new'));
  const isNew = String(await store.get('a')) === 'new';
  return finding(
    FITS,
    error?.name === 'StoreError' && error.message.includes('ENOSPC') && kept === 'old' && isNew,
    `${error?.name ?? 'no error'}${error?.message.includes('ENOSPC') ? ' (ENOSPC)' : ''}, then the value was "${kept}"; a small one was ${isNew ? 'written' : 'not written'}`,
  );
}

/**
 * A gateway whose state folder takes not one byte more.
 * @param {import('./subjects.mjs').Name} name
 * @param {string} folder
 * @param {string | undefined} gateway
 */
async function runOnFullDisk(name, folder, gateway) {
  const filler = join(folder, 'filler');
  const state = join(folder, 'state');
  mkdirSync(state, { mode: 0o700 });
  fill(filler);
  const subject = await start(name, { s0: fixture('crash') }, { gateway, state });
  const next = () => ({ key: 's0', name: 's0:slow', args: { ms: 20 } });
  const seen = await callDuring(subject.client, delay(2000), { inFlight: 8, next });
  await subject.end();
  return unnoticed(seen, UNNOTICED);
}

/** @param {string} file */
function fill(file) {
  try {
    for (let chunk = 0; ; chunk++) writeFileSync(`${file}-${chunk}`, Buffer.alloc(4096));
  } catch {
    // That was the last block.
  }
}

/**
 * A file system of 64 kB; why there is none, where there is none.
 * @param {string} home
 */
export function tinyDisk(home) {
  const folder = join(home, 'tiny');
  mkdirSync(folder);
  const unmount = () => void execFileSync('umount', ['-l', folder]);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    return { folder, unmount, reason: undefined };
  } catch {
    return { folder, unmount, reason: 'needs root, to mount a tiny disk' };
  }
}
