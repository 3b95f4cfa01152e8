#!/usr/bin/env node
// @ts-check
// Builds everything: generated config files, the packages by `tsc -b`, and the command: one folder per bundle.
// --frozen takes the generated files as they are committed, so that a test can tell when they are stale.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleDemo } from './bundle-demo.mjs';
import { bundleCommand, OUTPUT, refuseLeftovers, refuseWideCharacters } from './bundle.mjs';
import { npmScript, root, runMain } from './steps.mjs';

const cli = join(root, 'packages', 'cli');
const entries = join(cli, 'src', 'entries');
const starter = join(cli, 'src', 'main.ts');
/** A file each: shims on Windows hide under which name a command was started. */
const bins = ['weir', 'mcp-weir', 'mcp-simple-aggregator'];

await runMain(async () => {
  if (!process.argv.includes('--frozen')) generateConfig();
  // The bundle is made from source and does not wait for the type check; both must succeed.
  if (existsSync(starter)) {
    await bundle();
    await bundleDemo(join(root, 'examples', 'servers'), join(cli, 'dist', 'demo'));
    copyTemplate();
    copyPages();
    linkCommand();
  }
  compilePackages();
});

function generateConfig() {
  const generator = join(root, 'packages', 'gateway', 'scripts', 'generate-config.mjs');
  if (existsSync(generator)) run('generating the config validator', [generator]);
}

function compilePackages() {
  const project = join(root, 'packages', existsSync(starter) ? 'cli' : 'gateway');
  run('tsc -b', [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', project]);
}

// The commands, and what starts one of them from its compiled form.
async function bundle() {
  const define = { WEIR_VERSION: JSON.stringify(productVersion()) };
  const hashes = await Promise.all(
    readdirSync(entries).map(async (file) => {
      const name = file.replace('-main.ts', '');
      return [name, await bundleCommand(join(entries, file), join(cli, 'dist', name), define)];
    }),
  );
  const HASHES = JSON.stringify(Object.fromEntries(hashes));
  await Promise.all(bins.map((name) => bundleBin(name, { HASHES })));
}

/**
 * @param {string} name
 * @param {Record<string, string>} define
 */
async function bundleBin(name, define) {
  const file = join(cli, 'dist', `${name}.cjs`);
  const { metafile } = await build({
    ...OUTPUT,
    entryPoints: [starter],
    outfile: file,
    bundle: true,
    // The older module format starts faster: 34 ms instead of 38 when it was measured.
    format: 'cjs',
    sourcemap: 'external',
    metafile: true,
    define: { ...define, PROGRAM_NAME: JSON.stringify(name) },
  });
  refuseLeftovers(metafile);
  refuseWideCharacters(readFileSync(file, 'utf8'));
  chmodSync(file, 0o755);
}

// `weir new` copies it.
function copyTemplate() {
  const template = join(cli, 'dist', 'template');
  rmSync(template, { recursive: true, force: true });
  cpSync(join(cli, 'template'), template, { recursive: true });
}

// The README of the package links to these pages, and they to each other.
function copyPages() {
  const docs = join(cli, 'dist', 'docs');
  rmSync(docs, { recursive: true, force: true });
  cpSync(join(root, 'docs'), docs, { recursive: true, filter: (path) => !path.endsWith('.json') });
  cpSync(join(root, 'SECURITY.md'), join(cli, 'dist', 'SECURITY.md'));
}

function productVersion() {
  return JSON.parse(readFileSync(join(cli, 'package.json'), 'utf8')).version;
}

// npm links no bin whose file does not exist yet, and on a fresh clone it installs before we build.
function linkCommand() {
  if (bins.every((name) => existsSync(join(root, 'node_modules', '.bin', name)))) return;
  run('linking the command', [npmScript(), 'rebuild', 'mcp-weir', '--ignore-scripts']);
}

/**
 * @param {string} label
 * @param {string[]} args
 */
function run(label, args) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error(`${label} failed`);
}
