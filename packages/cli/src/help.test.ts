import { expect } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { parseArguments } from './arguments.ts';
import { DOCKER_HELP, HELP, SERVE_HELP, USAGE } from './help.ts';

const lines = HELP.trimEnd().split('\n');
const options = [...HELP.matchAll(/^ {2}(--[a-z-]+) ?([A-Z]*)/gmu)].map(([, name = '', value = '']) => ({
  name,
  value,
}));

verifies('AGG-CLI-1', 'help fits on one screen of 24 lines and 80 columns, the prompt included', () => {
  expect(HELP.endsWith('\n')).toBe(true);
  expect(lines.length).toBeLessThanOrEqual(23);
  expect(lines.filter((line) => line.length > 79)).toEqual([]);
});

verifies(
  ['AGG-CLI-1', 'AGG-SEP-1'],
  'help names every option, and every option it names is understood',
  () => {
    expect(options.map(({ name }) => name)).toEqual([
      '--config',
      '--separator',
      '--no-prefix',
      '--keep-going',
      '--lazy',
      '--startup-timeout',
      '--max-message-size',
      '--name',
      '--version',
      '--state',
      '--history-arguments',
      '--debug',
      '--log-file',
      '--version',
    ]);
    const samples: Record<string, string> = { TIME: '20s', SIZE: '64M' };
    for (const { name, value } of options) {
      const argv = value === '' ? [name] : [name, samples[value] ?? 'x'];
      expect(() => parseArguments(['--config', 'x', ...argv], {})).not.toThrow();
    }
  },
);

verifies('AGG-CLI-1', 'the examples are command lines that start the gateway', () => {
  const examples = lines
    .filter((line) => line.startsWith('  weir '))
    .map((line) => line.trim().split(' ').slice(1));
  expect(examples.length).toBeGreaterThanOrEqual(3);
  const started = examples.map((argv) => parseArguments(argv, {}).run);
  expect(started).toEqual(['stdio', 'stdio', 'serve']);
});

verifies('AGG-CLI-1', 'help tells the defaults and the exit codes', () => {
  for (const text of ['mcp-simple-aggregator', '1.0.0', '":"', '5s', '60s', '64M', '$WEIR_STATE']) {
    expect(HELP).toContain(`default ${text}`.replace('default 60s', '60s'));
  }
  expect(HELP).toContain('Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.');
  expect(USAGE.split('\n')[0]).toBe(lines.find((line) => line.startsWith('Usage:')));
});

verifies(
  ['AGG-CLI-1', 'SAFE-1'],
  'the help of weir serve fits on a screen, and all that it says is true',
  () => {
    const serveLines = SERVE_HELP.trimEnd().split('\n');
    expect(serveLines.length).toBeLessThanOrEqual(23);
    expect(serveLines.filter((line) => line.length > 79)).toEqual([]);
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
  },
);

verifies(
  ['AGG-CLI-1', 'MANAGED-3'],
  'the help of weir docker fits on a screen, and names what is understood',
  () => {
    const dockerLines = DOCKER_HELP.trimEnd().split('\n');
    expect(dockerLines.length).toBeLessThanOrEqual(23);
    expect(dockerLines.filter((line) => line.length > 79)).toEqual([]);
    const named = [...DOCKER_HELP.matchAll(/^ {2}(ps|gc|--[a-z-]+) /gmu)].map(([, name = '']) => name);
    expect(named).toEqual(['ps', 'gc', '--json']);
  },
);
