// @ts-check
// Bundles the servers of `weir serve --demo`, which works wherever the command is installed: it has no dependencies.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { OUTPUT, refuseLeftovers } from './bundle.mjs';
import { root } from './steps.mjs';

/**
 * One file a server, and in a folder of their own the code that they share, once, with its licenses.
 * @param {string} servers
 * @param {string} folder
 */
export async function bundleDemo(servers, folder) {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    ...OUTPUT,
    entryPoints: readdirSync(servers).map((file) => join(servers, file)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    // The demo starts all files of its own folder.
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    conditions: ['@weir/source'],
    metafile: true,
    plugins: [inEnglish],
  });
  refuseLeftovers(metafile);
  writeFileSync(join(folder, 'shared', 'LICENSES.txt'), licensesOf(metafile));
}

/**
 * Leaves out the messages of zod in other languages, a third of the bundle.
 * @type {import('esbuild').Plugin}
 */
const inEnglish = {
  name: 'in English',
  setup(bundler) {
    const contents = "export { default as en } from './en.js';";
    bundler.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents }));
  },
};

/**
 * The licenses of the packages in a bundle, which ask to be passed on with it.
 * @param {import('esbuild').Metafile} metafile
 */
function licensesOf({ inputs }) {
  const names = Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  return [...new Set(names)]
    .filter((name) => name !== undefined)
    .sort()
    .map((name) => `${name}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')}`)
    .join('\n\n');
}
