import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { UsageError } from './arguments.ts';
import { parseControl } from './control-arguments.ts';
import { controlHelp } from './control-help.ts';
import { PROGRAM } from './program.ts';

const env = { HOME: '/home/me' };
const plain = {
  server: '',
  json: false,
  token: false,
  state: '/home/me/.local/state/weir',
  shown: { follow: false, failed: false, limit: 100 },
};

function read(...argv: string[]): unknown {
  const command = parseControl(argv, env);
  return command.run === 'control' ? command.args : command.run;
}

function mistake(...argv: string[]): string {
  try {
    parseControl(argv, env);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  throw new Error('The command line was understood');
}

describe('what is asked of gateways', () => {
  verifies('HEALTH-7', 'history, and what of it', () => {
    expect(read('history')).toEqual({ ...plain, action: 'history' });
    expect(read('history', '--follow', '--failed', '--server', 'a', '--limit=5', '--json')).toEqual({
      ...plain,
      action: 'history',
      json: true,
      token: false,
      shown: { follow: true, failed: true, server: 'a', limit: 5 },
    });
  });

  verifies('HEALTH-3', 'a server and the gateway that is meant', () => {
    expect(read('disable', 'files', '--pid', '12')).toEqual({
      ...plain,
      action: 'disable',
      server: 'files',
      pid: 12,
    });
    expect(read('enable', '--config', 'a.json', 'files')).toEqual({
      ...plain,
      action: 'enable',
      server: 'files',
      configPath: resolve('a.json'),
    });
    expect(read('ps', '--state=/s')).toEqual({ ...plain, action: 'ps', state: '/s' });
  });

  test('help and version come first', () => {
    expect([read('enable', '-h'), read('ps', '--nonsense', '--help'), read('stop', '--version')]).toEqual([
      'help',
      'help',
      'version',
    ]);
  });

  test.each([
    [['logs'], 'weir logs needs the name of a server, as in weir logs files'],
    [['logs', 'a', 'b'], 'Unexpected argument: b'],
    [['stop', 'a'], 'Unexpected argument: a'],
    [['stop', '--failed'], 'Unknown option: --failed (it belongs to weir history)'],
    [['history', '--token'], 'Unknown option: --token (it belongs to weir ps)'],
    [['ps', '--sever'], 'Unknown option: --sever'],
    [['ps', '--pid'], '--pid needs a value'],
    [['ps', '--pid', '0'], "--pid takes a whole number from 1 on, not '0'"],
    [['history', '--limit', 'all'], "--limit takes a whole number from 1 on, not 'all'"],
  ])('%j is a mistake', (argv, text) => {
    expect(mistake(...argv)).toBe(text);
  });

  test('every option that the help names is understood', () => {
    const options = [...controlHelp(PROGRAM).matchAll(/(?:^ {2}|\[)(--[a-z]+)(?: ([A-Z]+))?/gmu)].map(
      ([, name = '', value]) => [name, ...(value === undefined ? [] : ['7'])],
    );
    expect(options.length).toBe(9);
    for (const option of options) {
      const action = option[0] === '--token' ? 'ps' : 'history';
      expect(() => read(action, ...option)).not.toThrow();
    }
  });
});
