import {
  choicesOf,
  COMMANDS,
  isArgumentOptional,
  optionsOf,
  PLACEHOLDERS,
  placeholderOf,
  STDIO,
  titleOf,
  type Command,
  type Option,
} from './commands/table.ts';
import { UsageError } from './errors.ts';
import { nearest } from './nearest.ts';
import { PROGRAM, type Program } from './program.ts';
import type { Values } from './values.ts';

/** The result of reading a command line: what to print, or the values for the command. */
export type Parsed = { readonly print: 'help' | 'version' } | { readonly values: Values };

/**
 * Reads the words after the command; throws a `UsageError` at the first mistake. `node:util.parseArgs` is not used, because
 * `--separator --` and a bare `--version` mean something here that it does not support.
 */
export function parse(command: Command, words: readonly string[], program: Program = PROGRAM): Parsed {
  if (command === STDIO) checkCommandName(words[0], program);
  const options = optionsOf(command);
  const values: Values = {};
  for (let at = 0; at < words.length; at++) {
    const { name, value } = splitOption(words[at] as string);
    if (isHelp(name)) return { print: 'help' };
    if (isVersion(name) && value === undefined && (name === '-v' || isBare(words[at + 1])))
      return { print: 'version' };
    const option = options.find((known) => known.name === name);
    if (option === undefined && name.startsWith('-')) {
      // A user who asks for help has not finished the line.
      if (words.slice(at).some(isHelp)) return { print: 'help' };
      throw new UsageError(unknownOption(name, command, program));
    }
    if (option === undefined) takeArgument(values, name, command);
    else if (option.value === undefined) setFlag(values, option, value);
    else setValue(values, option, value ?? valueAfter(name, words[++at]));
  }
  checkArgument(values, command, program);
  return { values };
}

/** Splits `--name=value`; a value in the next word is read later. */
function splitOption(word: string): { name: string; value: string | undefined } {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  if (equals < 0) return { name: word, value: undefined };
  return { name: word.slice(0, equals), value: word.slice(equals + 1) };
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

function isVersion(word: string): boolean {
  return word === '--version' || word === '-v';
}

/** Returns true where `--version` has no value: at the end and before another option. */
function isBare(next: string | undefined): boolean {
  return next === undefined || next.startsWith('-');
}

function setFlag(values: Values, { name, set }: Option, value: string | undefined): void {
  if (value !== undefined) throw new UsageError(`${name} takes no value`);
  set(values, '');
}

/** Returns the next word, unless it is an option. Only `--separator` takes any word, because `--` is a separator. */
function valueAfter(name: string, next: string | undefined): string | undefined {
  return name === '--separator' || !next?.startsWith('--') ? next : undefined;
}

function setValue(values: Values, { name, example, set }: Option, value: string | undefined): void {
  // The gateway has its own error for an empty separator.
  const isMissing = value === undefined || (value === '' && name !== '--separator');
  if (isMissing) throw new UsageError(`${name} needs a value, as in ${name} ${example}`);
  set(values, value);
}

function takeArgument(values: Values, word: string, { argument }: Command): void {
  if (argument === undefined || values.argument !== undefined) throw new UsageError(unexpected(word));
  values.argument = word;
}

function unexpected(word: string): string {
  return `Unexpected argument: ${word}${isConfigFile(word) ? ` (did you mean --config ${word}?)` : ''}`;
}

function isConfigFile(word: string): boolean {
  return /\.jsonc?$/iu.test(word);
}

function checkArgument(values: Values, command: Command, program: Program): void {
  const { argument } = values;
  if (command.argument === undefined) return;
  if (argument === undefined && isArgumentOptional(command)) return;
  const title = titleOf(command, program);
  const choices = choicesOf(command);
  if (choices.length === 0 && argument === undefined)
    throw new UsageError(`${title} needs ${describeMissing(command, title)}`);
  if (choices.length === 0 || choices.includes(argument ?? '')) return;
  const list = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  throw new UsageError(
    argument === undefined ? `${title} needs ${list}` : `${title} takes ${list}, not '${argument}'`,
  );
}

/** Names the missing argument, with an example where there is one. */
function describeMissing(command: Command, title: string): string {
  const placeholder = placeholderOf(command);
  const known = PLACEHOLDERS[placeholder];
  return known === undefined ? placeholder : `${known.meaning}, as in ${title} ${known.example}`;
}

function unknownOption(name: string, command: Command, program: Program): string {
  const known = [...optionsOf(command).map((option) => option.name), '--help'];
  return `Unknown option: ${name}${belongsTo(name, program) || didYouMean(name, known)}`;
}

/** Names up to three commands that have the option: a longer list helps less than the help does. */
function belongsTo(name: string, program: Program): string {
  const isNamed = (option: Option): boolean => option.name === name;
  const owners = [STDIO, ...COMMANDS].filter((command) => optionsOf(command).some(isNamed));
  if (owners.length === 0) return '';
  const titles = owners.slice(0, 3).map((owner) => titleOf(owner, program));
  const list = owners.length > 3 ? `${titles.join(', ')} and others` : titles.join(' and ');
  const hint = owners.flatMap(optionsOf).find(isNamed)?.hint;
  return ` (it belongs to ${list}${hint === undefined ? '' : `; ${hint}`})`;
}

/** Throws where the first word looks like a command and is none. */
function checkCommandName(word: string | undefined, { name }: Program): void {
  if (word === undefined || !/^\w/u.test(word) || isConfigFile(word)) return;
  const known = COMMANDS.map((command) => command.name);
  throw new UsageError(`Unknown command: ${word}${didYouMean(word, known, `${name} `)}`);
}

function didYouMean(word: string, known: readonly string[], before = ''): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : ` (did you mean ${before}${meant}?)`;
}
