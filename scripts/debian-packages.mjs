// @ts-check
// Debian's packages for the tests: unpacked into a cache and never installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, tryTo } from './steps.mjs';

/**
 * Finds a command of this machine, else unpacks Debian's. Returns undefined where neither can be had.
 * @param {string} command
 * @param {string[]} required the packages that it needs, beside what is installed nearly everywhere
 * @returns {{ path: string; unpacked: string } | undefined} the program, and the folder that is the root of its packages
 */
export function findCommand(command, required) {
  if (spawnSync(command, ['--version']).status === 0) return { path: command, unpacked: '/' };
  try {
    const unpacked = unpackPackages(join(root, '.cache', command), { required, optional: [] });
    const path = ['usr/bin', 'bin']
      .map((folder) => join(unpacked, folder, command))
      .find((file) => existsSync(file));
    return path === undefined ? undefined : { path, unpacked };
  } catch {
    return undefined;
  }
}

/**
 * Downloads and unpacks them where that has not been done yet; two at once do no harm.
 * @param {string} cache
 * @param {{ required: string[]; optional: string[] }} packages
 */
export function unpackPackages(cache, { required, optional }) {
  const unpacked = join(cache, 'root');
  if (existsSync(unpacked)) return unpacked;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, 'fresh-'));
  try {
    for (const name of required) download(name, fresh);
    for (const name of optional) tryTo(() => download(name, fresh));
    for (const file of readdirSync(fresh).filter((name) => name.endsWith('.deb')))
      execFileSync('dpkg', ['-x', join(fresh, file), join(fresh, 'root')], { stdio: 'ignore' });
    tryTo(() => renameSync(join(fresh, 'root'), unpacked));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return unpacked;
}

/**
 * @param {string} name
 * @param {string} cwd
 */
function download(name, cwd) {
  execFileSync('apt-get', ['download', name], { cwd, stdio: 'ignore', timeout: 120_000 });
}

/**
 * What their commands need to be found, and to find their libraries.
 * @param {string} unpacked
 */
export function packageEnvironment(unpacked) {
  const inside = (/** @type {string[]} */ ...folders) =>
    folders.map((folder) => join(unpacked, folder)).join(':');
  const libraries = ['lib', 'usr/lib'].flatMap((folder) =>
    existsSync(join(unpacked, folder))
      ? readdirSync(join(unpacked, folder)).map((name) => join(folder, name))
      : [],
  );
  return {
    PATH: `${inside('usr/bin', 'usr/sbin', 'sbin')}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    LD_LIBRARY_PATH: inside(...libraries.filter((name) => name.endsWith('-linux-gnu'))),
  };
}
