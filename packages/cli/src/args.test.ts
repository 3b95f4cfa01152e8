import { describe, expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { parse } from './args.ts';
import { serveArgs, type ServeArgs } from './commands/serve.ts';
import { stdioArgs, type StdioArgs } from './commands/stdio.ts';
import { COMMANDS, commandFor, optionsOf, STDIO } from './commands/table.ts';
import { UsageError } from './errors.ts';
import { PROGRAM, programNamed, VERSION, type Program } from './program.ts';
import type { Environment, Values } from './values.ts';

/** Returns the first three commands that have an option. */
function firstWith(option: string): string {
  const having = COMMANDS.filter((command) => optionsOf(command).some(({ name }) => name === option));
  return having
    .slice(0, 3)
    .map(({ name }) => `weir ${name}`)
    .join(', ');
}

type Read =
  | { run: 'help' | 'version' }
  | { run: 'stdio'; args: StdioArgs }
  | { run: 'serve'; args: ServeArgs }
  | { run: 'another command'; args: Values };

/** Reads a command line as the command does. */
function readLine(argv: readonly string[], env: Environment, program: Program = PROGRAM): Read {
  const command = commandFor(argv[0]);
  const parsed = parse(command, command === STDIO ? argv : argv.slice(1), program);
  if ('print' in parsed) return { run: parsed.print };
  const { values } = parsed;
  if (command === STDIO) return { run: 'stdio', args: stdioArgs(values, env, program) };
  if (command.name === 'serve') return { run: 'serve', args: serveArgs(values, env, program) };
  return { run: 'another command', args: values };
}

const HOME = '/home/me';
const STATE = '/home/me/.local/state/weir';

/** Returns the arguments that these options change in a command line that starts the gateway. */
function read(...argv: string[]): unknown {
  const command = readLine(['--config', 'mcp.json', ...argv], {});
  if (command.run !== 'stdio') return command.run;
  const { configPath, ...more } = command.args;
  expect(configPath).toBe('mcp.json');
  const defaults: Record<string, unknown> = PROGRAM.defaults;
  return Object.fromEntries(Object.entries(more).filter(([name, value]) => value !== defaults[name]));
}

function mistake(...argv: string[]): string {
  try {
    readLine(argv, { HOME });
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  throw new Error('The command line was understood');
}

describe('options', () => {
  verifies('AGG-CLI-1', 'stdio needs the config and no other option', () => {
    expect(readLine(['--config', 'a.json'], { HOME })).toEqual({
      run: 'stdio',
      args: { configPath: 'a.json', state: STATE, ...PROGRAM.defaults },
    });
  });

  verifies(
    ['AGG-CLI-1', 'AGG-CHILD-3', 'AGG-SEP-3'],
    'the defaults of options depend on the program name',
    () => {
      const defaults = (name: Parameters<typeof programNamed>[0]): unknown =>
        readLine(['--config', 'a.json'], {}, programNamed(name));
      const forHosts = { separator: '__', keepGoing: true, name: 'weir', version: VERSION };
      const seeds = { separator: ':', keepGoing: false, name: 'mcp-simple-aggregator', version: '1.0.0' };
      for (const [name, args] of [
        ['weir', forHosts],
        ['mcp-weir', forHosts],
        ['mcp-simple-aggregator', seeds],
      ] as const)
        expect(defaults(name)).toEqual({ run: 'stdio', args: { configPath: 'a.json', ...args } });
    },
  );

  verifies(['AGG-CLI-1', 'AGG-CHILD-3'], 'an option overrides every default', () => {
    for (const name of ['weir', 'mcp-simple-aggregator'] as const) {
      const given = (...argv: string[]): unknown =>
        readLine(['--config', 'a.json', ...argv], {}, programNamed(name));
      expect(given('--keep-going', '--separator', ':')).toMatchObject({
        args: { keepGoing: true, separator: ':' },
      });
      expect(given('--fail-fast', '--separator=__')).toMatchObject({
        args: { keepGoing: false, separator: '__' },
      });
      for (const run of [[], ['serve']])
        expect(mistake(...run, '--config', 'x', '--fail-fast', '--keep-going')).toBe(
          '--fail-fast and --keep-going exclude each other: choose one',
        );
    }
  });

  verifies('AGG-CHILD-3', 'weir lock rejects --keep-going', () => {
    expect(readLine(['lock', '--config', 'a.json'], {})).toEqual({
      run: 'another command',
      args: { configPath: 'a.json' },
    });
    expect(mistake('lock', '--config', 'a.json', '--keep-going')).toContain('Unknown option: --keep-going');
  });

  verifies('AGG-CLI-1', 'every option takes its value after a space and after an equals sign', () => {
    const options = [
      ['--config', 'b.json'],
      ['--name', 'my tools'],
      ['--version', '2.1.0'],
      ['--separator', '--'],
      ['--log-file', 'a=b.log'],
      ['--startup-timeout', '2s'],
      ['--max-message-size', '1K'],
      ['--instructions-budget', '500'],
      ['--state', '/srv/weir'],
    ];
    const expected = {
      run: 'stdio',
      args: {
        configPath: 'b.json',
        name: 'my tools',
        version: '2.1.0',
        separator: '--',
        keepGoing: true,
        logFile: 'a=b.log',
        startupTimeout: 2000,
        maxMessageSize: 1024,
        instructionsBudget: 500,
        state: '/srv/weir',
      },
    };
    expect(readLine(options.flat(), { HOME })).toEqual(expected);
    expect(
      readLine(
        options.map((option) => option.join('=')),
        { HOME },
      ),
    ).toEqual(expected);
  });

  verifies(['AGG-CLI-1', 'AGG-CLI-2'], 'a flag with a value is rejected', () => {
    expect(read('--debug', '--fail-fast', '--lazy', '--no-prefix')).toEqual({
      debug: true,
      keepGoing: false,
      lazy: true,
      noPrefix: true,
    });
    expect(mistake('--config', 'x', '--debug=true')).toBe('--debug takes no value');
  });

  test('the last of two values of an option wins', () => {
    expect(read('--name', 'one', '--name', 'two')).toEqual({ name: 'two' });
  });

  verifies('AGG-CLI-1', '--help is honoured despite mistakes in other options', () => {
    for (const argv of [['--help'], ['-h'], ['--debug', '--help', '--nonsense'], ['--nonsense', '--help']]) {
      expect(readLine(argv, {})).toEqual({ run: 'help' });
    }
  });
});

describe('--instructions-budget', () => {
  verifies('AGG-CALL-3', '--instructions-budget takes a number of characters, including 0', () => {
    expect(read('--instructions-budget', '0')).toEqual({ instructionsBudget: 0 });
    for (const wrong of ['-1', '2k', '1.5', '10000000'])
      expect(mistake('--config', 'x', `--instructions-budget=${wrong}`)).toContain('such as 2000');
  });
});

describe('--version', () => {
  verifies('AGG-CLI-1', '--version without a value prints the version', () => {
    for (const argv of [['--version'], ['--config', 'x', '--version'], ['--version', '--config', 'x']]) {
      expect(readLine(argv, {})).toEqual({ run: 'version' });
    }
    for (const argv of [['--version', '-h'], ['-v'], ['serve', '-v'], ['docker', '-v'], ['-v', '1.0']])
      expect(readLine(argv, {})).toEqual({ run: 'version' });
  });

  verifies('AGG-CLI-1', '--version with a value sets the version that clients see', () => {
    expect(read('--version', '7.0.0-beta')).toEqual({ version: '7.0.0-beta' });
    expect(read('--version=--odd')).toEqual({ version: '--odd' });
  });
});

describe('--separator', () => {
  verifies('AGG-SEP-1', '--separator takes any word as its value', () => {
    for (const separator of ['--', '-', '--debug', '=', '::', '→', '🌊', '-h', '--help']) {
      expect(read('--separator', separator)).toEqual({ separator });
      expect(read(`--separator=${separator}`)).toEqual({ separator });
    }
  });

  verifies('AGG-SEP-1', '--separator rejects an empty separator and one with whitespace', () => {
    const empty = 'Separator cannot be empty. Use --separator <chars> to specify a separator (default: "__")';
    const blank = 'Separator cannot contain whitespace. Use non-whitespace characters like "__" or "-"';
    expect(mistake('--config', 'x', '--separator', '')).toBe(empty);
    expect(mistake('--config', 'x', '--separator=')).toBe(empty);
    expect(() => readLine(['--separator='], {}, programNamed('mcp-simple-aggregator'))).toThrow(
      empty.replace('__', ':'),
    );
    for (const separator of [' ', 'a b', '\t', '\u00a0', '_\n']) {
      expect(mistake('--config', 'x', '--separator', separator)).toBe(blank);
    }
    expect(mistake('--config', 'x', '--separator')).toBe('--separator needs a value, as in --separator __');
  });

  verifies('AGG-SEP-4', '--separator excludes --no-prefix', () => {
    const text = '--separator and --no-prefix exclude each other: plain names have no separator';
    expect(mistake('--config', 'x', '--separator', '__', '--no-prefix')).toBe(text);
  });
});

describe('usage errors', () => {
  verifies('AGG-CLI-1', 'a command line without --config is rejected', () => {
    expect(mistake()).toBe('--config is missing: it names the file with your servers');
    expect(mistake('--debug')).toBe('--config is missing: it names the file with your servers');
    for (const argv of [['--config'], ['--config', ''], ['--config='], ['--config', '--debug']]) {
      expect(mistake(...argv)).toBe('--config needs a value, as in --config mcp.json');
    }
  });

  verifies('AGG-CLI-1', 'a usage error names an unknown option and the nearest one', () => {
    expect(mistake('--nonsense=secret')).toBe('Unknown option: --nonsense');
    expect(mistake('-x')).toBe('Unknown option: -x');
    expect(mistake('--')).toBe('Unknown option: --');
    expect(mistake('--seperator', 'x')).toBe('Unknown option: --seperator (did you mean --separator?)');
    expect(mistake('--confg=x')).toBe('Unknown option: --confg (did you mean --config?)');
    expect(mistake('--log', 'x')).toBe('Unknown option: --log (did you mean --log-file?)');
    expect(mistake('--keepgoing')).toBe('Unknown option: --keepgoing (did you mean --keep-going?)');
    expect(mistake('mcp.json')).toBe('Unexpected argument: mcp.json (did you mean --config mcp.json?)');
    expect(mistake('--debug', 'service')).toBe('Unexpected argument: service');
  });

  verifies('AGG-CLI-1', 'a usage error names an unknown command and the nearest one', () => {
    for (const [written, meant] of [
      ['sreve', 'serve'],
      ['service', 'serve'],
      ['histroy', 'history'],
      ['psx', 'ps'],
      ['lokc', 'lock'],
      ['hist', 'history'],
      ['hlep', 'help'],
    ])
      expect(mistake(written as string)).toBe(`Unknown command: ${written} (did you mean weir ${meant}?)`);
    for (const written of ['x', 'xy', 'run', 'frobnicate'])
      expect(mistake(written, '--help')).toBe(`Unknown command: ${written}`);
  });

  test.each(['0', '-1', 'soon', '5h', '1e3', '20 s', '30d', '999999999999s', ''])(
    '--startup-timeout rejects %j',
    (time) => {
      expect(() => read(`--startup-timeout=${time}`)).toThrow(UsageError);
    },
  );

  test.each([
    ['20', 20_000],
    ['20s', 20_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['2m', 120_000],
  ])('--startup-timeout accepts %s', (time, startupTimeout) => {
    expect(read('--startup-timeout', time)).toEqual({ startupTimeout });
  });

  test.each(['0', '-1', 'big', '1.5M', '64 M', '64T', '99999999999G', ''])(
    '--max-message-size rejects %j',
    (size) => {
      expect(() => read(`--max-message-size=${size}`)).toThrow(UsageError);
    },
  );

  test.each([
    ['1000', 1000],
    ['64M', 64 * 1024 * 1024],
    ['64m', 64 * 1024 * 1024],
    ['64MiB', 64 * 1024 * 1024],
    ['10kb', 10 * 1024],
    ['512M', 512 * 1024 ** 2],
  ])('--max-message-size accepts %s', (size, maxMessageSize) => {
    expect(read('--max-message-size', size)).toEqual({ maxMessageSize });
  });

  test('a usage error shows the format of a time and of a size', () => {
    expect(mistake('--startup-timeout', 'soon')).toBe(
      "--startup-timeout takes a time such as 20s or 500ms, not 'soon'",
    );
    expect(mistake('--max-message-size', 'big')).toBe(
      "--max-message-size takes a size such as 64M, at most 512M, not 'big'",
    );
  });
});

describe('the state folder', () => {
  function folder(env: Record<string, string>, ...argv: string[]): string | undefined {
    const command = readLine(['--config', 'x', ...argv], env);
    return command.run === 'stdio' ? command.args.state : 'no start';
  }

  verifies(
    ['AGG-CLI-1', 'ERA-4'],
    'the state folder comes from --state, then $WEIR_STATE, then the system',
    () => {
      const env = { WEIR_STATE: '/weir', XDG_STATE_HOME: '/xdg', HOME };
      expect(folder(env, '--state', '/mine')).toBe('/mine');
      expect(folder(env)).toBe('/weir');
      expect(folder({ ...env, WEIR_STATE: '' })).toBe('/xdg/weir');
      expect(folder({ HOME })).toBe(STATE);
      expect(folder({ LOCALAPPDATA: '/AppData' })).toBe('/AppData/weir');
      expect(folder({})).toBeUndefined();
    },
  );

  test('the state folder ignores a relative path in a variable of the system', () => {
    expect(folder({ XDG_STATE_HOME: 'state', HOME })).toBe(STATE);
    expect(folder({ HOME: 'me' })).toBeUndefined();
  });
});

describe('weir serve', () => {
  const serve = (...argv: string[]): unknown => readLine(['serve', ...argv], { HOME });
  const own = { demo: false, host: '127.0.0.1', port: 8808, auth: true, allowedHosts: [], state: STATE };
  const defaults = { ...PROGRAM.defaults, ...own };

  verifies('SAFE-1', 'weir serve listens on this machine and requires a token by default', () => {
    expect(serve('--config', 'a.json')).toEqual({
      run: 'serve',
      args: { configPath: 'a.json', ...defaults },
    });
  });

  test('weir serve takes its own options and those of weir', () => {
    const options = ['--demo', '--port=0', '--host', '[::1]', '--no-auth', '--separator', '__', '--debug'];
    const hosts = ['--allowed-host', 'a.lan:80', '--allowed-host=b.lan', '--allowed-host', '[fd00::1]:80'];
    const more = { demo: true, port: 0, host: '::1', auth: false, separator: '__', debug: true };
    const allowedHosts = ['a.lan:80', 'b.lan', '[fd00::1]:80'];
    const args = { ...defaults, ...more, configPath: undefined, allowedHosts };
    expect(serve(...options, ...hosts)).toEqual({ run: 'serve', args });
    expect(serve('--help')).toEqual({ run: 'help' });
  });

  verifies('SAFE-1', 'weir serve allows --no-auth on this machine only', () => {
    const open = ['serve', '--demo', '--no-auth', '--host'];
    expect(mistake(...open, '0.0.0.0')).toContain(
      '--no-auth works on this machine only: with --host 0.0.0.0',
    );
    expect(mistake(...open, '192.168.1.2')).toContain('--no-auth works on this machine only');
    expect(mistake(...open, '127.0.0.1.evil.example')).toContain('--no-auth works on this machine only');
    for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost'])
      expect(readLine([...open, host], {}).run).toBe('serve');
  });

  test('weir serve names the mistake in its options', () => {
    expect(mistake('serve')).toContain('--config is missing');
    expect(mistake('serve', '--demo', '--config', 'a.json')).toContain('exclude each other');
    expect(mistake('serve', '--demo', '--port', '65536')).toContain(
      "up to 65535 (0 picks a free port), not '65536'",
    );
    expect(mistake('serve', '--demo', '--port', 'http')).toContain("not 'http'");
    for (const host of ['http://tools.lan', '*', 'a b', 'me@tools.lan', '[::1', 'tools.lan:'])
      expect(mistake('serve', '--demo', '--allowed-host', host)).toBe(
        `--allowed-host takes a name with its port, such as tools.lan:8808, not '${host}'`,
      );
    expect(mistake('--config', 'a.json', '--port', '1')).toBe(
      'Unknown option: --port (it belongs to weir serve)',
    );
  });
});

describe('the commands for running gateways', () => {
  const values = (...argv: string[]): unknown => {
    const line = readLine(argv, { HOME });
    return 'args' in line ? line.args : line.run;
  };

  verifies('HEALTH-7', 'weir history takes its filters', () => {
    expect(values('history')).toEqual({});
    expect(values('history', '--follow', '--failed', '--server', 'a', '--limit=5', '--json')).toEqual({
      follow: true,
      failed: true,
      server: 'a',
      limit: 5,
      json: true,
    });
  });

  verifies('HEALTH-3', 'weir enable and disable take a server and the options that choose a gateway', () => {
    expect(values('disable', 'files', '--pid', '12')).toEqual({ argument: 'files', pid: 12 });
    expect(values('enable', '--config', 'a.json', 'files')).toEqual({
      argument: 'files',
      configPath: 'a.json',
    });
    expect(values('ps', '--state=/s')).toEqual({ state: '/s' });
  });

  test('an argument in brackets may be left out', () => {
    const command = { ...commandFor('logs'), argument: '[SERVER]' };
    expect(parse(command, [])).toEqual({ values: {} });
    expect(parse(command, ['files'])).toEqual({ values: { argument: 'files' } });
  });

  test('an argument in brackets takes only the values that it lists', () => {
    const command = { ...commandFor('completion'), argument: '[bash|zsh]' };
    expect(parse(command, [])).toEqual({ values: {} });
    expect(() => parse(command, ['fish'])).toThrow("weir completion takes bash or zsh, not 'fish'");
  });

  test('the error about a missing argument names what is missing', () => {
    const command = { ...commandFor('logs'), argument: 'FILE' };
    expect(() => parse(command, [])).toThrow('weir logs needs FILE');
  });

  test('--help and --version of a command are honoured despite other mistakes', () => {
    expect([
      values('enable', '-h'),
      values('ps', '--nonsense', '--help'),
      values('stop', '--version'),
    ]).toEqual(['help', 'help', 'version']);
  });

  test.each([
    [['logs'], 'weir logs needs the name of a server, as in weir logs files'],
    [['logs', 'a', 'b'], 'Unexpected argument: b'],
    [['stop', 'a'], 'Unexpected argument: a'],
    [['stop', '--failed'], 'Unknown option: --failed (it belongs to weir history)'],
    [['history', '--token'], 'Unknown option: --token (it belongs to weir ps)'],
    [['ps', '--lazy'], 'Unknown option: --lazy (it belongs to weir and weir serve)'],
    [['--pid', '1'], `Unknown option: --pid (it belongs to ${firstWith('--pid')} and others)`],
    [
      ['serve', '--group', 'dev'],
      'Unknown option: --group (it belongs to weir; on HTTP the path /mcp/NAME chooses a group)',
    ],
    [['ps', '--sever'], 'Unknown option: --sever'],
    [['history', '--sever'], 'Unknown option: --sever (did you mean --server?)'],
    [['ps', '--pid'], '--pid needs a value, as in --pid 4711'],
    [['ps', '--pid', '0'], "--pid takes a whole number from 1 on, not '0'"],
    [['history', '--limit', 'all'], "--limit takes a whole number from 1 on, not 'all'"],
    [['completion'], 'weir completion needs bash, zsh or fish'],
    [['completion', 'tcsh'], "weir completion takes bash, zsh or fish, not 'tcsh'"],
  ])('the command line %j is rejected', (argv, text) => {
    expect(mistake(...argv)).toBe(text);
  });
});

describe('every option of the command table', () => {
  for (const command of [STDIO, ...COMMANDS])
    test.each(optionsOf(command))(
      `the command "${command.name}" accepts $name`,
      ({ name, value, example = '' }) => {
        const words = [...(command === STDIO ? [] : [command.name]), ...argumentOf(command.argument)];
        const line = [...words, ...(value === undefined ? [name] : [name, example])];
        expect(parse(command, command === STDIO ? line : line.slice(1))).toHaveProperty('values');
        expect(value === undefined).toBe(example === '');
      },
    );
});

function argumentOf(argument: string | undefined): string[] {
  return argument === undefined ? [] : [argument.split('|')[0] as string];
}
