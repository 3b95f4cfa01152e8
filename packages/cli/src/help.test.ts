import { expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { parse } from './args.ts';
import { COMMANDS, commandFor, optionsOf, STDIO } from './commands/table.ts';
import { help, usage } from './help.ts';
import { PROGRAM, programNamed } from './program.ts';

const NAMES = ['weir', 'mcp-weir', 'mcp-simple-aggregator'] as const;
const HELP = help(STDIO, PROGRAM);
const SERVE_HELP = help(commandFor('serve'), PROGRAM);

/** Returns the option names at the start of a line, in order. */
function optionsIn(text: string): string[] {
  return [...text.matchAll(/^ {2}(--[a-z-]+)/gmu)].map(([, name = '']) => name);
}

verifies(
  'AGG-CLI-1',
  'the help of every command fits 24 lines of 80 columns, the prompt included, under every name',
  () => {
    for (const name of NAMES)
      for (const command of COMMANDS) {
        const text = help(command, programNamed(name));
        expect(text.endsWith('\n')).toBe(true);
        expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(23);
        expect(text.split('\n').filter((line) => line.length > 79)).toEqual([]);
        expect(text).toMatch(new RegExp(`^Usage: ${name} ${command.name}`, 'mu'));
      }
  },
);

verifies('AGG-CLI-1', 'the help lists all commands, then all options, in 80 columns', () => {
  for (const name of NAMES) {
    const text = help(STDIO, programNamed(name));
    expect(text.split('\n').filter((line) => line.length > 79)).toEqual([]);
    // A line for each command, and 29 for options, usage and headings.
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(COMMANDS.length + 29);
    expect(text).toContain(`\nUsage: ${name} --config FILE [options]\n       ${name} COMMAND [options]\n`);
    const [commands = '', options = ''] = text.split(/^Options .*:$/mu);
    const listed = [...commands.matchAll(/^ {2}([a-z]+) .* {2}\S/gmu)].map(([, command]) => command);
    expect(listed).toEqual(COMMANDS.map((command) => command.name));
    expect(optionsIn(options)).toEqual(STDIO.options.map((option) => option.name));
    expect(options).toMatch(/^ {2}-v, --version .*\n {2}-h, --help /mu);
  }
});

verifies(['AGG-CLI-1', 'AGG-SEP-1'], 'the help of stdio lists all of its options', () => {
  expect(optionsIn(HELP)).toEqual([
    '--config',
    '--group',
    '--separator',
    '--no-prefix',
    '--keep-going',
    '--fail-fast',
    '--lazy',
    '--fresh',
    '--startup-timeout',
    '--max-message-size',
    '--instructions-budget',
    '--name',
    '--version',
    '--state',
    '--history-arguments',
    '--debug',
    '--log-file',
  ]);
});

verifies('AGG-CLI-1', 'the help shows the defaults and the exit codes', () => {
  for (const name of ['weir', 'mcp-simple-aggregator'] as const) {
    const { defaults } = programNamed(name);
    const text = help(STDIO, programNamed(name));
    const values = [defaults.name, defaults.version, `"${defaults.separator}"`, '5s', '64M', '$WEIR_STATE'];
    for (const value of values) expect(text).toContain(`default ${value}`);
    expect(text).toMatch(defaults.keepGoing ? /--keep-going .*\(default\)/u : /--fail-fast .*\(default\)/u);
    expect(text).toContain('npx etc. 60s');
  }
  for (const command of [STDIO, ...COMMANDS])
    expect(help(command, PROGRAM)).toContain('Exit codes: 0 success, 1 failure, 2 wrong usage.');
});

verifies(['AGG-CLI-1', 'SAFE-1'], 'the help of weir serve lists its options and examples that work', () => {
  expect(optionsIn(SERVE_HELP)).toEqual([
    '--config',
    '--demo',
    '--host',
    '--port',
    '--allowed-host',
    '--no-auth',
    '--metrics-public',
  ]);
  expect(SERVE_HELP).toContain('All options in weir --help apply, too.');
  const examples = SERVE_HELP.split('\n')
    .filter((line) => line.startsWith('  weir '))
    .map((line) => line.trim().split(' '));
  expect(examples).toHaveLength(3);
  for (const [, name, ...words] of examples) expect(parse(commandFor(name), words)).toHaveProperty('values');
});

verifies(['AGG-CLI-1', 'MANAGED-3'], 'the help of weir docker explains ps, gc and --json', () => {
  const text = help(commandFor('docker'), PROGRAM);
  const named = [...text.matchAll(/^ {2}(ps|gc|--[a-z-]+) /gmu)].map(([, name = '']) => name);
  expect(named.toSorted()).toEqual(['--json', 'gc', 'ps']);
});

test('the help of a command lists each of its own options', () => {
  for (const command of COMMANDS)
    expect(optionsIn(help(command, PROGRAM))).toEqual(command.options.map((option) => option.name));
  expect(optionsOf(commandFor('serve')).length).toBeGreaterThan(commandFor('serve').options.length);
});

test('a usage error is followed by two lines that name the help', () => {
  expect(usage(STDIO, PROGRAM)).toMatchInlineSnapshot(`
    "Usage: weir --config FILE [options]
    Try 'weir help' for commands and options, or 'weir serve --demo'."
  `);
  expect(usage(commandFor('docker'), PROGRAM)).toBe(
    "Usage: weir docker ps|gc [--json]\nTry 'weir docker --help'.",
  );
});
