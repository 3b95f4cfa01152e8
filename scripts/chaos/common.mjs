// @ts-check
// What the faults share: findings, chance, patience, and what Linux tells of processes.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Something that was promised, and what happened; `isKept` is undefined where it could not be tried.
 * A figure without a promise is `isMeasured`.
 * @typedef {{ promise: string; happened: string; isKept: boolean | undefined; isMeasured?: boolean }} Finding
 */

/**
 * @param {string} promise
 * @param {boolean} isKept
 * @param {string} happened
 * @returns {Finding}
 */
export function finding(promise, isKept, happened) {
  return { promise, isKept, happened };
}

/**
 * @param {string} what
 * @param {string} figure
 * @returns {Finding}
 */
export function measured(what, figure) {
  return { promise: what, isKept: true, happened: figure, isMeasured: true };
}

/**
 * @param {string} promise
 * @param {string} reason
 * @returns {Finding}
 */
export function skipped(promise, reason) {
  return { promise, isKept: undefined, happened: `skipped: ${reason}` };
}

/**
 * How many seconds it took until this was true; undefined if it was not within so many.
 * @param {number} seconds
 * @param {() => boolean | Promise<boolean>} isTrue
 */
export async function secondsUntil(seconds, isTrue) {
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  while (!(await isTrue())) {
    if (elapsed() > seconds) return undefined;
    await delay(100);
  }
  return elapsed();
}

/** @param {number | undefined} seconds */
export function after(seconds) {
  return seconds === undefined ? 'not in time' : `after ${seconds.toFixed(1)} s`;
}

/**
 * Numbers between 0 and 1, the same for the same seed.
 * @param {number} seed
 */
export function randomFrom(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const ownAtFirst = openFiles(process.pid);

/**
 * The open files of a gateway, but for the connections that its client has made since this began: they are the client's choice.
 * @param {number} pid
 */
export function filesBesideOurs(pid) {
  return openFiles(pid) - (openFiles(process.pid) - ownAtFirst);
}

/** @param {number} pid */
function openFiles(pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** @param {number} pid */
export function residentMb(pid) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status'))?.[1] ?? 0) / 1024;
}

/**
 * The highest that its memory has been, in MB, while this lasted.
 * @param {number} pid
 * @param {Promise<unknown>} during
 */
export async function highestMb(pid, during) {
  let highest = residentMb(pid);
  let isOver = false;
  const over = during.finally(() => (isOver = true));
  while (!isOver) {
    await Promise.race([delay(50), over]);
    highest = Math.max(highest, residentMb(pid));
  }
  return highest;
}

/**
 * The processes whose command line ends with this.
 * @param {string} ending
 */
export function processesEndingWith(ending) {
  return processes().filter((pid) => readProc(pid, 'cmdline').endsWith(`${ending}\0`));
}

/**
 * The processes that carry a mark in their environment. One that is dead but not buried has none and does not count.
 * @param {string} mark
 */
export function processesMarked(mark) {
  return processes().filter((pid) => readProc(pid, 'environ').split('\0').includes(`CHAOS_MARK=${mark}`));
}

function processes() {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/**
 * @param {number} pid
 * @param {string} file
 */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Whether it got the signal; it may have ended by itself since it was seen.
 * @param {number} pid
 * @param {NodeJS.Signals} [signal]
 */
export function kill(pid, signal = 'SIGKILL') {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
