#!/usr/bin/env node
// What each bin is: starts the command that stands beside it, from its compiled form where an earlier start has left one.
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

/** By then a command has shown which of its functions a start needs. What runs later is left out: compiled functions take memory. */
const STORE_AFTER_MS = 150;

// A file each: reading what only the others need would slow down every start on stdio.
process.argv.splice(2, Infinity, ...withHelpOption(process.argv.slice(2)));
const name = fileOf(process.argv[2]);
const file = join(__dirname, `${name}.cjs`);
const cache = new CodeCache(process, HASHES[name]);
const cachedData = cache.read();
// Read as the one function that it is, and in the one encoding that Node reads without a buffer: no second copy is kept.
const script = new Script(readFileSync(file, 'utf8'), { filename: file, ...(cachedData && { cachedData }) });
const command = script.runInThisContext() as (...args: readonly unknown[]) => void;
command(exports, require, module, file, __dirname, PROGRAM_NAME);

// What lives shorter leaves nothing.
if (cachedData === undefined || script.cachedDataRejected === true)
  setTimeout(() => cache.store(() => script.createCachedData()), STORE_AFTER_MS).unref();
