// @ts-check
// Bundles a command into a folder: main.cjs holds what every start needs, and one file each what is imported while it runs.
// Both are functions that `packages/cli/src/main.ts` calls.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build, transform } from 'esbuild';

const MAIN = 'main.cjs';

export const OUTPUT = /** @type {const} */ ({
  platform: 'node',
  target: 'node20.19',
  // A third less text to read and to keep: 0.4 MB in every gateway. The map, which stays here, tells what a stack trace means.
  minify: true,
  legalComments: 'inline',
  logLevel: 'warning',
});

/**
 * Resolves with a hash of main.cjs. The other files belong to it: their names, which it holds, change with their text.
 * @param {string} entry
 * @param {string} folder
 * @param {Record<string, string>} define
 */
export async function bundleCommand(entry, folder, define) {
  const { outputFiles, metafile } = await build({
    ...OUTPUT,
    define,
    entryPoints: [entry],
    outdir: folder,
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    conditions: ['@weir/source'],
    sourcemap: 'inline',
    metafile: true,
    write: false,
    plugins: [mainInOneFile(entry, await lazyModules(entry, define))],
  });
  refuseLeftovers(metafile);
  const main = mainOf(metafile, entry);
  const shell = `${basename(entry, '.ts')}.cjs`;
  const files = await Promise.all(
    outputFiles
      .map(({ path, text }) => ({ name: basename(path), text }))
      .filter(({ name }) => name === main || name !== shell)
      .map(({ name, text }) => toFunction(name === main ? MAIN : name, text.replaceAll(main, MAIN))),
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, code, map } of files) {
    writeFileSync(join(folder, name), code);
    writeFileSync(join(folder, `${name}.map`), map);
  }
  const { code } = files.find(({ name }) => name === MAIN) ?? { code: '' };
  return createHash('sha256').update(code).digest('hex').slice(0, 16);
}

/**
 * The modules that the command may import while it runs; other commands import others.
 * @param {string} entry
 * @param {Record<string, string>} define
 */
async function lazyModules(entry, define) {
  const { metafile } = await build({
    ...OUTPUT,
    define,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    conditions: ['@weir/source'],
    metafile: true,
    write: false,
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const bundled = Object.assign({}, ...Object.values(metafile.outputs).map(({ inputs }) => inputs));
  const lazy = imports.filter(({ kind, path }) => kind === 'dynamic-import' && path in bundled);
  return new Set(lazy.map(({ path }) => resolve(path)));
}

/**
 * esbuild divides code by who can reach it. Each lazy module is made to import the entry, so that all that a start needs is
 * reached by the same ones and stays in one file: calls between files are slower, and so is reading them.
 * @param {string} entry
 * @param {ReadonlySet<string>} lazy
 * @returns {import('esbuild').Plugin}
 */
function mainInOneFile(entry, lazy) {
  return {
    name: 'main in one file',
    setup(bundler) {
      // A module that this command never imports would be bundled, too, with all that it needs.
      bundler.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
        kind === 'dynamic-import' && !lazy.has(resolve(resolveDir, path))
          ? { path, external: true }
          : undefined,
      );
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        lazy.has(path)
          ? { loader: 'ts', contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(entry)};\n` }
          : undefined,
      );
    },
  };
}

/**
 * The output that holds the code of the entry.
 * @param {import('esbuild').Metafile} metafile
 * @param {string} entry
 */
function mainOf({ outputs }, entry) {
  const holds = (/** @type {string[]} */ inputs) => inputs.some((input) => resolve(input) === entry);
  const found = Object.entries(outputs).find(([, { inputs }]) => holds(Object.keys(inputs)));
  if (found === undefined) throw new Error(`No file of the bundle holds ${entry}`);
  return basename(found[0]);
}

/** The export statement at the end of a file of the bundle. */
const EXPORTS = /export\{([^{}]*)\};?(?=\s*(?:\/\/# sourceMappingURL|$))/;

/**
 * Writes a file of the bundle as a function. That of main.cjs returns one that lends its exports: defining them one by one, as
 * for any module, would take a quarter of a millisecond of every start.
 * @param {string} name
 * @param {string} text
 */
async function toFunction(name, text) {
  const isMain = name === MAIN;
  const [statement = '', exported = ''] = (isMain && EXPORTS.exec(text)) || [];
  const lent = exported.split(',').map(toProperty);
  // Within the text, because esbuild may give the names of exports a digit where functions use the same ones.
  const source = statement === '' ? text : text.replace(statement, () => `LENT=()=>({${lent.join(',')}});`);
  const { code, map } = await transform(source, {
    ...OUTPUT,
    format: 'cjs',
    // The function gets `require` and nothing else.
    supported: { 'dynamic-import': false },
    // Those of Node's libraries; all others are short already.
    minifyIdentifiers: true,
    minifySyntax: true,
    minifyWhitespace: true,
    treeShaking: false,
    sourcemap: 'external',
    sourcefile: name,
    banner: '(function(exports,require,module,PROGRAM_NAME){let LENT;',
    footer: 'return LENT})',
  });
  refuseWideCharacters(code);
  // A statement that was not found would have become properties of `exports`, which nothing reads.
  if (isMain && code.includes('module.exports=')) throw new Error(`The exports of ${name} were not found`);
  return { name, code, map };
}

/**
 * Turns `local as exported` into a property.
 * @param {string} item
 */
function toProperty(item) {
  const [local, exported = local] = item.trim().split(' as ');
  return local === '' ? '' : `${exported}:${local}`;
}

/**
 * One character beyond ASCII makes the engine keep the whole text at two bytes a character: 0.5 MB more in every gateway.
 * esbuild escapes them everywhere but in regular expressions.
 * @param {string} text
 */
export function refuseWideCharacters(text) {
  const found = /[^\0-\x7f]/u.exec(text);
  if (found === null) return;
  const near = text.slice(Math.max(0, found.index - 40), found.index + 20);
  throw new Error(`The bundle must be ASCII: write "${found[0]}" as an escape in: ${near}`);
}

/** @param {import('esbuild').Metafile} metafile */
export function refuseLeftovers({ outputs }) {
  const left = Object.values(outputs)
    .flatMap((output) => output.imports)
    .filter(({ external, path }) => external === true && !path.startsWith('node:'))
    .map(({ path }) => path);
  if (left.length > 0) throw new Error(`The bundle must stand alone, but still imports ${left.join(', ')}`);
}
