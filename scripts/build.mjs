#!/usr/bin/env node
// @ts-check
// Builds everything: generated config files, the packages by `tsc -b`, and the command: a file for stdio, and one each for
// HTTP, for containers, for the lock file and for what is asked of gateways that run.
// --frozen takes the generated files as they are committed, so that a test can tell when they are stale.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { npmScript, root, runMain } from './steps.mjs';

const cli = join(root, 'packages', 'cli');
const entries = ['stdio', 'serve', 'docker', 'lock', 'control'];
const starter = join(cli, 'src', 'starter.ts');
/** A file each: shims on Windows hide under which name a command was started. */
const bins = ['weir', 'mcp-weir', 'mcp-simple-aggregator'];

await runMain(async () => {
  if (!process.argv.includes('--frozen')) generateConfig();
  // The bundle is made from source and does not wait for the type check; both must succeed.
  if (existsSync(starter)) {
    await bundleCommand();
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
  const project = join(root, 'packages', existsSync(starter) ? 'cli' : 'gateway');
  run('tsc -b', [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', project]);
}

// The commands, and what starts one of them from its compiled form.
async function bundleCommand() {
  const version = { WEIR_VERSION: JSON.stringify(productVersion()) };
  const hashes = await Promise.all(
    entries.map(async (name) => [
      name,
      await bundleFile(join(cli, 'src', `${name}-main.ts`), join(cli, 'dist', `${name}.cjs`), {
        define: version,
        // One function, which what starts it calls: it need not be wrapped, and so copied, at every start.
        banner: { js: '(function(exports,require,module,__filename,__dirname,PROGRAM_NAME){' },
        footer: { js: '})' },
      }),
    ]),
  );
  const define = { HASHES: JSON.stringify(Object.fromEntries(hashes)) };
  await Promise.all(bins.map((name) => bundleBin(name, define)));
}

/**
 * @param {string} name
 * @param {Record<string, string>} define
 */
async function bundleBin(name, define) {
  const file = join(cli, 'dist', `${name}.cjs`);
  await bundleFile(starter, file, { define: { ...define, PROGRAM_NAME: JSON.stringify(name) } });
  chmodSync(file, 0o755);
}

/**
 * Resolves with a hash of what it has written.
 * @param {string} from
 * @param {string} outfile
 * @param {import('esbuild').BuildOptions} options
 */
async function bundleFile(from, outfile, options) {
  const { metafile } = await build({
    entryPoints: [from],
    outfile,
    bundle: true,
    // The older module format starts faster: 34 ms instead of 38 when it was measured.
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // What starts the bundle lends it `require` and nothing else.
    supported: { 'dynamic-import': false },
    conditions: ['@weir/source'],
    // A third less text to read and to keep: 0.4 MB in every gateway. The map, which stays here, tells what a stack trace means.
    minify: true,
    sourcemap: 'external',
    legalComments: 'inline',
    ...options,
    logLevel: 'warning',
    metafile: true,
  });
  refuseLeftovers(metafile);
  const bytes = readFileSync(outfile);
  refuseWideCharacters(bytes.toString());
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/**
 * One character beyond ASCII makes the engine keep the whole text at two bytes a character: 0.5 MB more in every gateway.
 * esbuild escapes them everywhere but in regular expressions.
 * @param {string} text
 */
function refuseWideCharacters(text) {
  const found = /[^\0-\x7f]/u.exec(text);
  if (found === null) return;
  const near = text.slice(Math.max(0, found.index - 40), found.index + 20);
  throw new Error(`The bundle must be ASCII: write "${found[0]}" as an escape in: ${near}`);
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
    .filter(({ external, path }) => external === true && !path.startsWith('node:'))
    .map(({ path }) => path);
  if (left.length > 0) throw new Error(`The bundle must stand alone, but still imports ${left.join(', ')}`);
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
