#!/usr/bin/env node
// @ts-check
// Makes a fresh clone ready: installs and builds what is missing or stale, and is silent when nothing is.
// Runs before node_modules exists, so it imports nothing but Node.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { quietStep, root, runMain } from './steps.mjs';

const stampFile = join(root, '.cache', 'build-stamp');
const bundle = join(root, 'packages', 'cli', 'dist', 'weir.cjs');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runMain(() => {
    requireNode(20, 19);
    ensureInstalled(root, 'dependencies');
    if (!process.argv.includes('--install-only')) ensureBuilt();
  });
}

export function ensureBuilt() {
  const stamp = sourceHash();
  if (existsSync(bundle) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  quietStep('building', [join(root, 'scripts', 'build.mjs'), '--frozen']);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

/**
 * @param {number} major
 * @param {number} minor
 */
function requireNode(major, minor) {
  const [hasMajor = 0, hasMinor = 0] = process.versions.node.split('.').map(Number);
  if (hasMajor > major || (hasMajor === major && hasMinor >= minor)) return;
  throw new Error(
    `Node ${major}.${minor} or later is needed, this is ${process.version}. See https://nodejs.org`,
  );
}

// One hash over everything a build reads; tests and built files do not count.
function sourceHash() {
  const hash = createHash('sha256');
  for (const file of buildInputs())
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

function buildInputs() {
  const top = [
    'package-lock.json',
    'tsconfig.base.json',
    'tsconfig.package.json',
    'scripts/build.mjs',
    'SECURITY.md',
  ];
  const folders = ['packages', 'docs'].flatMap((name) => walk(join(root, name)));
  return [...top.map((name) => join(root, name)), ...folders].sort();
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function walk(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : walk(path);
    return entry.name.endsWith('.test.ts') ? [] : [path];
  });
}
