import { expect } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { parseArguments } from './arguments.ts';
import { COMMANDS } from './commands.ts';
import { controlHelp } from './control-help.ts';
import { dockerHelp, help, lockHelp, serveHelp, usage } from './help.ts';
import { PROGRAM, programNamed } from './program.ts';

const HELP = help(PROGRAM);
const SERVE_HELP = serveHelp(PROGRAM);
const DOCKER_HELP = dockerHelp(PROGRAM);

const lines = HELP.trimEnd().split('\n');
const options = [...HELP.matchAll(/^ {2}(--[a-z-]+(?:, --[a-z-]+)*) ?([A-Z]*)/gmu)].flatMap(
  ([, names = '', value = '']) => names.split(', ').map((name) => ({ name, value })),
);

verifies(
  'AGG-CLI-1',
  'every help fits on one screen of 24 lines and 80 columns, the prompt included, under every name',
  () => {
    for (const name of ['weir', 'mcp-weir', 'mcp-simple-aggregator'] as const)
      for (const text of [help, serveHelp, lockHelp, dockerHelp, controlHelp].map((of) =>
        of(programNamed(name)),
      )) {
        expect(text.endsWith('\n')).toBe(true);
        expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(23);
        expect(text.split('\n').filter((line) => line.length > 79)).toEqual([]);
        expect(text).toMatch(new RegExp(`^Usage: ${name} `, 'mu'));
      }
  },
);

verifies(
  ['AGG-CLI-1', 'AGG-SEP-1'],
  'help names every option, and every option it names is understood',
  () => {
    expect(options.map(({ name }) => name)).toEqual([
      '--config',
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
      '--group',
      '--history-arguments',
      '--debug',
      '--log-file',
      '--version',
      '--help',
    ]);
    const samples: Record<string, string> = { TIME: '20s', SIZE: '64M', N: '2000' };
    for (const { name, value } of options) {
      const argv = value === '' ? [name] : [name, samples[value] ?? 'x'];
      expect(() => parseArguments(['--config', 'x', ...argv], {})).not.toThrow();
    }
  },
);

verifies('AGG-CLI-1', 'help names every command', () => {
  for (const command of COMMANDS) expect(HELP).toMatch(new RegExp(`^.*[ ,]?${command}\\b`, 'mu'));
});

verifies('AGG-CLI-1', 'help tells the defaults and the exit codes', () => {
  for (const name of ['weir', 'mcp-simple-aggregator'] as const) {
    const { defaults } = programNamed(name);
    const text = help(programNamed(name));
    const told = `${defaults.name} ${defaults.version}`;
    for (const value of [told, `"${defaults.separator}"`, '5s', '64M', '$WEIR_STATE'])
      expect(text).toContain(`default ${value}`);
    expect(text).toMatch(defaults.keepGoing ? /--keep-going .*\(default\)/u : /--fail-fast .*\(default\)/u);
    expect(text).toContain('npx etc. 60s');
  }
  expect(HELP).toContain('Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.');
  expect(usage(PROGRAM).stdio.split('\n')[0]).toBe(lines.find((line) => line.startsWith('Usage:')));
});

verifies(['AGG-CLI-1', 'SAFE-1'], 'all that the help of weir serve says is true', () => {
  const serveLines = SERVE_HELP.trimEnd().split('\n');
  const named = [...SERVE_HELP.matchAll(/^ {2}(--[a-z-]+) ?([A-Z]*)/gmu)];
  expect(named.map(([, name]) => name)).toEqual([
    '--config',
    '--demo',
    '--host',
    '--port',
    '--allowed-host',
    '--no-auth',
  ]);
  const examples = serveLines
    .filter((line) => line.startsWith('  weir '))
    .map((line) => line.trim().split(' '));
  for (const [, ...argv] of examples) expect(parseArguments(argv, {}).run).toBe('serve');
  expect(examples).toHaveLength(3);
});

verifies(['AGG-CLI-1', 'MANAGED-3'], 'the help of weir docker names what is understood', () => {
  const named = [...DOCKER_HELP.matchAll(/^ {2}(ps|gc|--[a-z-]+) /gmu)].map(([, name = '']) => name);
  expect(named).toEqual(['ps', 'gc', '--json']);
});
