#!/usr/bin/env node
// @ts-check
// Builds everything: generated config files, the packages by `tsc -b`, and the command as one file for stdio and one for HTTP.
// --frozen takes the generated files as they are committed, so that a test can tell when they are stale.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { npmScript, root, runMain } from './steps.mjs';

const cli = join(root, 'packages', 'cli');
const entry = join(cli, 'src', 'main.ts');
const bundle = join(cli, 'dist', 'weir.cjs');
// What `weir serve` runs, whole: the command on stdio should not have to read it.
const serveEntry = join(cli, 'src', 'serve-main.ts');
const serveBundle = join(cli, 'dist', 'serve.cjs');
const SERVE = './serve.cjs';

/** @type {import('esbuild').Plugin} */
const serveStandsBeside = {
  name: 'serve-stands-beside',
  setup(bundling) {
    bundling.onResolve({ filter: /\/serve-main\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: SERVE, external: true } : undefined,
    );
  },
};

await runMain(async () => {
  if (!process.argv.includes('--frozen')) generateConfig();
  // The bundle is made from source and does not wait for the type check; both must succeed.
  if (existsSync(entry)) {
    await Promise.all([bundleCommand(entry, bundle), bundleCommand(serveEntry, serveBundle)]);
    chmodSync(bundle, 0o755);
    copyDemo();
    linkCommand();
  }
  compilePackages();
});

function generateConfig() {
  const generator = join(root, 'packages', 'gateway', 'scripts', 'generate-config.mjs');
  if (existsSync(generator)) run('generating the config validator', [generator]);
}

function compilePackages() {
  const project = join(root, 'packages', existsSync(entry) ? 'cli' : 'gateway');
  run('tsc -b', [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', project]);
}

/**
 * @param {string} from
 * @param {string} outfile
 */
async function bundleCommand(from, outfile) {
  const { metafile } = await build({
    entryPoints: [from],
    outfile,
    plugins: [serveStandsBeside],
    bundle: true,
    // The older module format starts faster: 34 ms instead of 38 when it was measured.
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    conditions: ['@weir/source'],
    // Names are kept: a stack trace from a user's machine should be readable.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'inline',
    define: { WEIR_VERSION: JSON.stringify(productVersion()) },
    logLevel: 'warning',
    metafile: true,
  });
  refuseLeftovers(metafile);
}

// `weir serve --demo` works wherever the command is installed.
function copyDemo() {
  cpSync(join(root, 'examples', 'servers'), join(cli, 'dist', 'demo'), { recursive: true });
}

function productVersion() {
  return JSON.parse(readFileSync(join(cli, 'package.json'), 'utf8')).version;
}

/** @param {import('esbuild').Metafile} metafile */
function refuseLeftovers(metafile) {
  const left = Object.values(metafile.outputs)
    .flatMap((output) => output.imports)
    .filter(({ external, path }) => external === true && !path.startsWith('node:') && path !== SERVE)
    .map(({ path }) => path);
  if (left.length > 0) throw new Error(`The bundle must stand alone, but still imports ${left.join(', ')}`);
}

// npm links no command whose file does not exist yet, and on a fresh clone it installs before we build.
function linkCommand() {
  if (existsSync(join(root, 'node_modules', '.bin', 'weir'))) return;
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
