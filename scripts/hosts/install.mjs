// @ts-check
// Installs a client or a server from npm into a folder of its own under .cache, as its lockfile in locks/ says.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeLockfile } from '../complete-lockfile.mjs';
import { ensureInstalled } from '../install.mjs';
import { npmScript, quietStep, root } from '../steps.mjs';

const NPMRC = 'save-exact=true\nomit-lockfile-registry-resolved=true\nignore-scripts=true\nbin-links=false\n';

/** @typedef {Readonly<Record<string, string>>} Packages Exact versions by package; the first is the one that is tried. */

/**
 * Returns the folder that holds the node_modules.
 * @param {string} name
 * @param {Packages} packages
 */
export function install(name, packages) {
  const folder = prepare(name, packages);
  copyFileSync(lockfile(name), join(folder, 'package-lock.json'));
  ensureInstalled(folder, `${name} from npm`);
  return folder;
}

/**
 * Writes the lockfile anew, for the versions that the table names.
 * @param {string} name
 * @param {Packages} packages
 */
export function lock(name, packages) {
  const folder = prepare(name, packages);
  for (const stale of ['package-lock.json', 'node_modules'])
    rmSync(join(folder, stale), { recursive: true, force: true });
  const options = ['--package-lock-only', '--no-engine-strict', '--no-audit', '--no-fund'];
  quietStep(`resolving ${name}`, [npmScript(), 'install', ...options], { cwd: folder });
  completeLockfile(join(folder, 'package-lock.json'));
  copyFileSync(join(folder, 'package-lock.json'), lockfile(name));
}

/** @param {string} name */
export function lockfile(name) {
  return join(root, 'scripts', 'hosts', 'locks', `${name}.json`);
}

/**
 * @param {string} name
 * @param {Packages} packages
 */
function prepare(name, packages) {
  const folder = join(root, '.cache', 'hosts', name);
  mkdirSync(folder, { recursive: true });
  const manifest = { name, private: true, type: 'module', dependencies: packages };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, '.npmrc'), NPMRC);
  return folder;
}

/**
 * Returns the script behind a package's command.
 * @param {string} folder
 * @param {string} name
 * @param {string} [command]
 */
export function binOf(folder, name, command) {
  const own = join(folder, 'node_modules', name);
  /** @type {{ bin?: string | Record<string, string> }} */
  const { bin = {} } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'));
  const path = typeof bin === 'string' ? bin : (bin[command ?? ''] ?? Object.values(bin)[0]);
  if (path === undefined || !existsSync(join(own, path))) throw new Error(`${name} has no command to run`);
  return join(own, path);
}
