#!/usr/bin/env node
// @ts-check
// npm leaves out of a lockfile what it could not resolve when it wrote it: binaries of other platforms, most of all.
// `npm ci` then refuses the lockfile, and another platform would not find its binary. This adds those entries.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, runMain } from './steps.mjs';

/**
 * @typedef {object} Entry
 * @property {string} [version]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {boolean} [extraneous]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {Record<string, string>} [optionalDependencies]
 */

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runMain(() => {
    for (const folder of ['.', 'tests/judges', 'tests/fleet', 'bench/server/libraries'])
      completeLockfile(join(root, folder, 'package-lock.json'));
  });
}

/** @param {string} file */
export function completeLockfile(file) {
  if (!existsSync(file)) return;
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = missingEntries(lock.packages);
  // npm sometimes keeps what nothing needs, and never installs it.
  const needed = Object.entries({ ...lock.packages, ...added }).filter(
    ([, { extraneous }]) => extraneous !== true,
  );
  lock.packages = Object.fromEntries(needed.sort(byPath));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${file}: ${Object.keys(added).length} entries added`);
}

/**
 * @param {Record<string, Entry>} packages
 * @returns {Record<string, Entry>}
 */
function missingEntries(packages) {
  const missing = Object.entries(packages).flatMap(([parent, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(
        ([name]) =>
          packages[`node_modules/${name}`] === undefined &&
          packages[`${parent}/node_modules/${name}`] === undefined,
      )
      .map(([name, version]) => [`node_modules/${name}`, entry(name, version, dev)]),
  );
  return Object.fromEntries(missing);
}

/**
 * @param {string} name
 * @param {string} version
 * @param {boolean | undefined} dev
 * @returns {Entry}
 */
function entry(name, version, dev) {
  if (!/^\d/.test(version))
    throw new Error(`${name} is wanted as "${version}": only exact versions can be added`);
  return { version, ...platform(name), ...(dev === true ? { dev } : {}), optional: true };
}

// Platform packages say in their names what they are for: binding-linux-x64-musl, win32-arm64, …
/** @param {string} name */
function platform(name) {
  const words = name.split(/[/-]/);
  const os = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'].filter((word) =>
    words.includes(word),
  );
  const cpu = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'].filter((word) =>
    words.includes(word),
  );
  const libc = name.includes('musl') ? ['musl'] : name.includes('gnu') ? ['glibc'] : [];
  const known = { cpu, ...(libc.length > 0 ? { libc } : {}), ...(os.length > 0 ? { os } : {}) };
  if (cpu.length === 0)
    throw new Error(`The platform of ${name} cannot be told from its name: add it by hand`);
  return known;
}

/**
 * @param {[string, unknown]} one
 * @param {[string, unknown]} other
 */
function byPath([one], [other]) {
  return one.localeCompare(other, 'en');
}
