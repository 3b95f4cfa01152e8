#!/usr/bin/env node
// The source of each bin: loads the bundle of the command, from its compiled form if an earlier start has stored one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { bundleFor, withHelpOption, type Bundle } from './bundles.ts';
import { CodeCache } from './code-cache.ts';
import type { ProgramName } from './program.ts';

/** Hashes of the bundles; the build inserts them. */
declare const HASHES: Readonly<Record<Bundle, string>>;

/** Name of the bin that this file is built for. */
declare const PROGRAM_NAME: ProgramName;

/** A file of a bundle, called like any module of Node. Returns a function that returns the exports for its other files. */
type Part = (exports: object, require: Load, module: Module, program: ProgramName) => () => object;
type Load = (name: string) => unknown;

interface Module {
  exports: object;
}

const MAIN = './main.cjs';

/**
 * Milliseconds until the compiled form is stored. Functions that run later are left out, because compiled functions take memory:
 * after 700 ms instead, an idle gateway takes 0.3 MB more, but its first list 9 % less CPU.
 */
const STORE_AFTER_MS = 100;

process.argv.splice(2, Infinity, ...withHelpOption(process.argv.slice(2)));
const bundle = bundleFor(process.argv[2]);
const cache = new CodeCache(process, HASHES[bundle]);
const loaded = new Map<string, Module>();
const loadLibrary: Load = require;
const cachedData = cache.read();
const script = compile(MAIN, cachedData);
const exportsOfMain = run(script, { exports: {} });

// A command that ends sooner stores nothing.
if (cachedData === undefined || script.cachedDataRejected === true)
  setTimeout(() => cache.store(() => script.createCachedData()), STORE_AFTER_MS).unref();

/** Compiles a part as one function. Reads it as text, because Node then keeps no second copy in a buffer. */
function compile(name: string, compiled?: Buffer): Script {
  const filename = join(__dirname, bundle, name);
  return new Script(readFileSync(filename, 'utf8'), { filename, ...(compiled && { cachedData: compiled }) });
}

function run(part: Script, own: Module): () => object {
  return (part.runInThisContext() as Part)(own.exports, load, own, PROGRAM_NAME);
}

/** Loads a library of Node, or a part of the bundle that most starts do not need. */
function load(name: string): unknown {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const own: Module = { exports: {} };
  loaded.set(name, own);
  // Each source file asks for its libraries. So often, Node's own look-up would be compiled, to machine code in the end.
  if (name.startsWith('node:')) own.exports = loadLibrary(name) as object;
  else if (name === MAIN) own.exports = exportsOfMain();
  else run(compileLate(name), own);
  return own.exports;
}

/** Compiles a part that may be missing: npm replaces all files of a package at an update, also while the command runs. */
function compileLate(name: string): Script {
  try {
    return compile(name);
  } catch (error) {
    loaded.delete(name);
    const { message } = error as Error;
    throw new Error(`Weir was updated or removed while it ran. Restart it. (${message})`, { cause: error });
  }
}
