import { COMMANDS, STDIO, titleOf, type Command, type Option } from './commands/table.ts';
import type { Program } from './program.ts';

/** Columns of names, so that the summaries are aligned. */
const COLUMN = 28;

/** Returns the help of a command; that of stdio lists all commands first. */
export function help(command: Command, program: Program): string {
  const sections = command === STDIO ? overview(program) : page(command, program);
  return `${sections.join('\n\n')}\n`;
}

/** Returns the lines under a usage error; few, so that the error stays visible. */
export function usage(command: Command, program: Program): string {
  const { name } = program;
  const advice =
    command === STDIO
      ? `Try '${name} help' for commands and options, or '${name} serve --demo'.`
      : `Try '${titleOf(command, program)} --help'.`;
  return `${usageLine(command, program)}\n${advice}`;
}

function overview(program: Program): string[] {
  const { name } = program;
  return [
    'Weir: one MCP server made of many.',
    `${usageLine(STDIO, program)}\n       ${name} COMMAND [options]`,
    `Commands (${name} help COMMAND shows their options):\n${COMMANDS.map(commandLine).join('\n')}`,
    `Options without a command, to serve one client on stdin and stdout:\n${[...STDIO.options.map((option) => optionLine(option, program)), ...LAST].join('\n')}`,
    EXIT_CODES,
  ];
}

function page(command: Command, program: Program): string[] {
  const { summary, options, shared, notes } = command;
  const lines = options.map((option) => optionLine(option, program));
  const others = shared === undefined ? [] : [`All options in ${program.name} --help apply, too.`];
  return [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    usageLine(command, program),
    ...(lines.length === 0 ? [] : [['Options:', ...lines, ...others].join('\n')]),
    ...(notes === undefined ? [] : [typeof notes === 'string' ? notes : notes(program)]),
    EXIT_CODES,
  ];
}

const EXIT_CODES = 'Exit codes: 0 success, 1 failure, 2 wrong usage.';

const LAST = [line('-v, --version', 'print the version of Weir'), line('-h, --help', 'print this text')];

function usageLine(command: Command, program: Program): string {
  const { argument = '', usage: required = '', options } = command;
  const more = options.length === 0 || required.startsWith('[') ? '' : '[options]';
  return ['Usage:', titleOf(command, program), argument, required, more]
    .filter((part) => part !== '')
    .join(' ');
}

function commandLine({ name, argument = '', summary }: Command): string {
  return line(`${name} ${argument}`, summary);
}

function optionLine({ name, value = '', summary }: Option, program: Program): string {
  return line(`${name} ${value}`, typeof summary === 'string' ? summary : summary(program));
}

function line(left: string, right: string): string {
  return `  ${left}`.padEnd(COLUMN) + right;
}
