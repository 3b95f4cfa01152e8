#!/usr/bin/env node
// The source of each bin. Starts the command whose folder stands beside it, from its compiled form where an earlier start has left one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { CodeCache } from './code-cache.ts';
import { fileOf, withHelpOption, type CommandFile } from './commands.ts';
import type { ProgramName } from './program.ts';

/** The hashes of the commands, put in when this file is built. */
declare const HASHES: Readonly<Record<CommandFile, string>>;

/** The bin that this file is built for. */
declare const PROGRAM_NAME: ProgramName;

/** A file of the build, called like any module of Node. Returns a function that lends what the other files import from it. */
type Part = (exports: object, require: Load, module: Module, program: ProgramName) => () => object;
type Load = (name: string) => unknown;

interface Module {
  exports: object;
}

const MAIN = './main.cjs';

/**
 * By then a command has read the lists of its servers, and has shown which of its functions a start needs. What runs later is
 * left out: compiled functions take memory.
 */
const STORE_AFTER_MS = 700;

// A folder each: reading what only the others need would slow down every start on stdio.
process.argv.splice(2, Infinity, ...withHelpOption(process.argv.slice(2)));
const command = fileOf(process.argv[2]);
const cache = new CodeCache(process, HASHES[command]);
const loaded = new Map<string, Module>();
const loadLibrary: Load = require;
const cachedData = cache.read();
const script = compile(MAIN, cachedData);
const lend = run(script, { exports: {} });

// A command that ends sooner stores nothing.
if (cachedData === undefined || script.cachedDataRejected === true)
  setTimeout(() => cache.store(() => script.createCachedData()), STORE_AFTER_MS).unref();

/** Reads a part as the one function that it is, and in the one encoding that Node reads without a buffer: no second copy is kept. */
function compile(name: string, compiled?: Buffer): Script {
  const filename = join(__dirname, command, name);
  return new Script(readFileSync(filename, 'utf8'), { filename, ...(compiled && { cachedData: compiled }) });
}

function run(part: Script, own: Module): () => object {
  return (part.runInThisContext() as Part)(own.exports, load, own, PROGRAM_NAME);
}

/** Loads a library of Node, or a part of the command that most starts do without. */
function load(name: string): unknown {
  if (name.startsWith('node:')) return loadLibrary(name);
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const own: Module = { exports: {} };
  loaded.set(name, own);
  if (name === MAIN) own.exports = lend();
  else run(compileLate(name), own);
  return own.exports;
}

/** Compiles a part that may be gone: npm replaces all files of a package that it updates, whether or not the command runs. */
function compileLate(name: string): Script {
  try {
    return compile(name);
  } catch (error) {
    loaded.delete(name);
    const { message } = error as Error;
    throw new Error(`Weir was updated or removed while it ran. Restart it. (${message})`, { cause: error });
  }
}
