// @ts-check
// Debian's packages for the tests: unpacked into a cache and never installed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tryTo } from './steps.mjs';

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
