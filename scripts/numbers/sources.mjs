// @ts-check
// The source files that the numbers are about: packages/*/src without tests; and the tests, for their titles.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** @typedef {{ path: string; text: string }} SourceFile A path from the root of the repository, with forward slashes. */

/**
 * Reads the sources of the checkout at `root`, sorted by path.
 * @param {string} root
 * @returns {SourceFile[]}
 */
export function readSources(root) {
  return readdirSync(join(root, 'packages'))
    .flatMap((name) => filesBelow(root, `packages/${name}/src`))
    .filter(isSource)
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/**
 * Reads the tests of the checkout at `root`, sorted by path.
 * @param {string} root
 * @returns {SourceFile[]}
 */
export function readTests(root) {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`);
  return [...packages, 'tests']
    .flatMap((folder) => filesBelow(root, folder))
    .filter(isTest)
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/**
 * @param {string} root
 * @param {string} folder
 */
function filesBelow(root, folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.map((name) => `${folder}/${name.split(sep).join('/')}`);
}

/** @param {string} path */
function isSource(path) {
  return /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !isTest(path);
}

/** @param {string} path */
function isTest(path) {
  return /\.(test|case)\.ts$/.test(path) && !path.includes('/node_modules/');
}

/** @param {string} path */
export function isGenerated(path) {
  return path.endsWith('.generated.ts');
}

/** @param {string} path */
export function folderOf(path) {
  return path.slice(0, path.lastIndexOf('/'));
}
