// @ts-check
// Installs what a folder's lockfile names, and only when that is not there yet. Needs nothing but Node and npm.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { npmScript, quietStep, root } from './steps.mjs';

/** @typedef {{ version?: string; link?: boolean; optional?: boolean; devOptional?: boolean }} Entry */

/**
 * Safe to call from several processes at once: one installs, the others wait for it.
 * @param {string} folder
 * @param {string} what
 */
export function ensureInstalled(folder, what) {
  if (isInstalled(folder)) return;
  const release = takeLock(basename(folder));
  try {
    if (!isInstalled(folder))
      quietStep(`installing ${what}`, [npmScript(), 'ci', ...flags(folder)], { cwd: folder });
  } finally {
    release();
  }
}

/** @param {string} folder */
function flags(folder) {
  // An outer npm hands our strictness about engines down; the judges, for one, run on a Node of their own.
  const strict = folder === root ? '--engine-strict' : '--no-engine-strict';
  return ['--ignore-scripts', '--no-audit', '--no-fund', strict];
}

/**
 * npm leaves a list of what it installed in node_modules; it must hold all that the lockfile names.
 * @param {string} folder
 */
export function isInstalled(folder) {
  const hidden = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const installed = entries(hidden);
  return Object.entries(entries(join(folder, 'package-lock.json')))
    .filter(([path, entry]) => path.includes('node_modules/') && !isOptional(entry))
    .every(([path, entry]) => installed[path] !== undefined && installed[path].version === entry.version);
}

/**
 * @param {string} lockfile
 * @returns {Record<string, Entry>}
 */
function entries(lockfile) {
  return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
}

/** @param {Entry} entry */
function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

/**
 * @param {string} name
 * @returns {() => void}
 */
function takeLock(name) {
  const lock = join(root, '.cache', `install-${name}.lock`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  while (!tryLock(lock)) sleep(200);
  return () => rmSync(lock, { force: true });
}

/** @param {string} lock */
function tryLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(holder(lock))) rmSync(lock, { force: true });
    return false;
  }
}

/** @param {string} lock */
function holder(lock) {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return 0;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  // A lock read between its creation and its writing is empty: its owner is at work.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** @param {number} ms */
function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
