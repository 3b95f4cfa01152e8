import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import {
  parseConfig,
  type ParsedRedirectUrl,
  type ParsedTransportConfig,
  type ServerConfig,
  type TransportConfig,
} from '../config.ts';

/** A result of `parseConfig`, or the text of the error. */
type Expected = Partial<ParsedTransportConfig> | string;
type Env = Record<string, string>;

const stdio: TransportConfig = { type: 'stdio' };
const http = (port: number, host?: string): Partial<ParsedTransportConfig> => ({
  transport: { type: 'http', port, ...(host !== undefined && { host }) },
  port,
});
const NO_PORT = 'Port is required for HTTP transport';
const BOTH = /^--stdio and .* exclude each other: a server has one transport$/;

/** Splits a command line at spaces. */
const words = (line: string): string[] => line.split(' ').filter((word) => word !== '');

function outcome(line: string, env: Env, known?: string[]): ParsedTransportConfig | string {
  try {
    return parseConfig(words(line), env, known && { known });
  } catch (error) {
    return error instanceof Error ? error.message : `no Error: ${String(error)}`;
  }
}

describe('the transport', () => {
  /** Rows: arguments. Columns: PORT and HOST. */
  const variables: Env[] = [
    {},
    { PORT: '' },
    { PORT: '80' },
    { HOST: 'h' },
    { PORT: '80', HOST: 'h' },
    { PORT: 'x' },
    { PORT: '80', HOST: ':' },
  ];
  const bad = 'PORT must be';
  const badHost = 'HOST must be';
  const table: [string, (Partial<ParsedTransportConfig> | string | RegExp)[]][] = [
    [
      '',
      [
        { transport: stdio },
        { transport: stdio },
        http(80),
        { transport: stdio },
        http(80, 'h'),
        bad,
        badHost,
      ],
    ],
    ['--stdio', variables.map(() => ({ transport: stdio }))],
    ['--port 90', [http(90), http(90), http(90), http(90, 'h'), http(90, 'h'), http(90), badHost]],
    ['--port=90', [http(90), http(90), http(90), http(90, 'h'), http(90, 'h'), http(90), badHost]],
    ['--host=i', [NO_PORT, NO_PORT, http(80, 'i'), NO_PORT, http(80, 'i'), bad, http(80, 'i')]],
    [
      '--host i --port 90',
      [
        http(90, 'i'),
        http(90, 'i'),
        http(90, 'i'),
        http(90, 'i'),
        http(90, 'i'),
        http(90, 'i'),
        http(90, 'i'),
      ],
    ],
    ['--port', variables.map(() => NO_PORT)],
    ['--port=', variables.map(() => NO_PORT)],
    ['--stdio --port 90', variables.map(() => BOTH)],
    ['--stdio --host i', variables.map(() => BOTH)],
    [
      '-- --port 90',
      [
        { transport: stdio },
        { transport: stdio },
        http(80),
        { transport: stdio },
        http(80, 'h'),
        bad,
        badHost,
      ],
    ],
  ];
  const cells = table.flatMap(([line, results]) =>
    results.map((expected, at) => [line, variables[at] ?? {}, expected] as const),
  );

  verifies('KIT-CFG-1', 'the truth table of --stdio, --port, --host, PORT and HOST holds', () => {
    for (const [line, env, expected] of cells) {
      const is = outcome(line, env);
      const name = `[${line}] with ${JSON.stringify(env)}`;
      if (typeof expected === 'string' || expected instanceof RegExp) expect.soft(is, name).toMatch(expected);
      else expect.soft(is, name).toEqual({ headless: false, ...expected });
    }
    expect(cells.length).toBeGreaterThan(70);
  });

  test('a port stands beside the transport for HTTP and is absent for stdio', () => {
    expect(parseConfig(['--port', '3000'], {})).toEqual({
      transport: { type: 'http', port: 3000 },
      headless: false,
      port: 3000,
    });
    expect(Object.keys(parseConfig([], {}))).toEqual(['transport', 'headless']);
  });

  verifies('KIT-CFG-1', 'a port is a whole number from 1 to 65535, as flag and as variable', () => {
    for (const port of ['1', '80', '65535']) {
      expect(outcome(`--port ${port}`, {})).toMatchObject({ port: Number(port) });
      expect(outcome('', { PORT: port })).toMatchObject({ port: Number(port) });
    }
    for (const port of [
      '0',
      '65536',
      '-1',
      '3000.5',
      'abc',
      '1e3',
      '0x50',
      '080',
      '+80',
      ' 80',
      '80 ',
      '٨٠',
      '99999999999999999999',
      'Infinity',
      'NaN',
      'null',
    ]) {
      const text = /must be a whole number from 1 to 65535/;
      expect.soft(() => parseConfig([`--port=${port}`], {}), port).toThrow(text);
      expect.soft(() => parseConfig(['--port', port], {}), port).toThrow(text);
      expect.soft(() => parseConfig([], { PORT: port }), port).toThrow(text);
    }
    expect(outcome('--port=x', {})).toBe("--port must be a whole number from 1 to 65535, not 'x'");
    expect(outcome('', { PORT: '80 ' })).toBe("PORT must be a whole number from 1 to 65535, not '80 '");
  });

  test.each(['localhost', '127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1%eth0', 'my-host.example', 'a_b'])(
    'the host %s is accepted',
    (host) => {
      expect(outcome(`--port 80 --host ${host}`, {})).toMatchObject(http(80, host));
    },
  );

  test('brackets around an IPv6 address are taken off', () => {
    expect(outcome('--port 80 --host [::1]', {})).toMatchObject(http(80, '::1'));
  });

  test.each(['http://x', 'a:80', '1.2.3', '256.1.1.1', 'a/b', '[a]', '[1.2.3.4]', 'a..b', '*', 'u@h', '::g'])(
    'the host %s is refused',
    (host) => {
      expect(outcome(`--port 80 --host ${host}`, {})).toMatch(/^--host must be a host name or an IP address/);
      expect(outcome('--port 80', { HOST: host })).toMatch(/^HOST must be a host name or an IP address/);
    },
  );
});

describe('headless', () => {
  const redirect = 'http://127.0.0.1:8080/callback';
  /** Rows: arguments. Columns: HEADLESS unset, empty, true, 1, false, 0, invalid; then the same with REDIRECT_URI. */
  const values = [undefined, '', 'true', '1', 'false', '0', 'yes'];
  const bad = "HEADLESS must be true, false, 1 or 0, not 'yes'";
  const table: [string, (boolean | string)[], (boolean | string)[]][] = [
    ['', [false, false, true, true, false, false, bad], [true, true, true, true, true, true, bad]],
    ['--headless', values.map(() => true), values.map(() => true)],
    ['--headless=true', values.map(() => true), values.map(() => true)],
    ['--headless=1', values.map(() => true), values.map(() => true)],
    ['--headless=false', values.map(() => false), values.map(() => false)],
    ['--headless=0', values.map(() => false), values.map(() => false)],
    ['--no-headless', values.map(() => false), values.map(() => false)],
    ['--no-headless --headless', values.map(() => false), values.map(() => false)],
    ['--headless --no-headless', values.map(() => false), values.map(() => false)],
    [
      `--redirect-uri ${redirect}`,
      [true, true, true, true, true, true, bad],
      [true, true, true, true, true, true, bad],
    ],
    [`--redirect-uri ${redirect} --no-headless`, values.map(() => false), values.map(() => false)],
  ];

  verifies(
    'KIT-CFG-1',
    'the truth table of --headless, --no-headless, HEADLESS and redirect URI holds',
    () => {
      for (const [line, without, withRedirect] of table) {
        for (const [at, value] of values.entries()) {
          const env: Env = value === undefined ? {} : { HEADLESS: value };
          const rows = [
            [env, without[at]],
            [{ ...env, REDIRECT_URI: redirect }, withRedirect[at]],
          ] as const;
          for (const [variables, expected] of rows) {
            const is = outcome(line, variables);
            const name = `[${line}] with ${JSON.stringify(variables)}`;
            expect.soft(typeof is === 'string' ? is : is.headless, name).toBe(expected);
          }
        }
      }
    },
  );

  test('any other word is refused as a boolean', () => {
    for (const word of ['yes', 'no', 'TRUE', 'on', '2', 'true ']) {
      expect(outcome('', { HEADLESS: word })).toMatch(/^HEADLESS must be true, false, 1 or 0/);
      expect(() => parseConfig([`--headless=${word}`], {})).toThrow(
        /^--headless must be true, false, 1 or 0/,
      );
    }
    expect(outcome('--headless=', {})).toMatch(/^--headless must be/);
  });
});

describe('the log level', () => {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];
  const bad = 'must be one of trace, debug, info, warn, error, silent';
  verifies('KIT-CFG-1', 'the truth table of --log-level and LOG_LEVEL holds', () => {
    const rows: [string, Env, Expected][] = [
      ...levels.flatMap((level): [string, Env, Expected][] => [
        [`--log-level ${level}`, {}, { logLevel: level }],
        [`--log-level=${level}`, { LOG_LEVEL: 'nonsense' }, { logLevel: level }],
        ['', { LOG_LEVEL: level }, { logLevel: level }],
      ]),
      ['', {}, {}],
      ['', { LOG_LEVEL: '' }, {}],
      ['', { LOG_LEVEL: 'INFO' }, `LOG_LEVEL ${bad}, not 'INFO'`],
      ['--log-level verbose', { LOG_LEVEL: 'info' }, `--log-level ${bad}, not 'verbose'`],
      ['--log-level', { LOG_LEVEL: 'info' }, '--log-level needs a value'],
      ['--log-level=', {}, '--log-level needs a value'],
    ];
    for (const [line, env, expected] of rows) {
      const name = `[${line}] with ${JSON.stringify(env)}`;
      expect
        .soft(outcome(line, env), name)
        .toEqual(
          typeof expected === 'string' ? expected : { transport: stdio, headless: false, ...expected },
        );
    }
  });
});

describe('the redirect URI', () => {
  verifies(
    'KIT-CFG-1',
    'the redirect URI is parsed, its port a number also where the URI leaves it out',
    () => {
      const parsed: Record<string, ParsedRedirectUrl> = {
        'https://app.example/cb?x=1': {
          href: 'https://app.example/cb?x=1',
          protocol: 'https:',
          hostname: 'app.example',
          port: 443,
          pathname: '/cb',
        },
        'HTTP://LocalHost': {
          href: 'http://localhost/',
          protocol: 'http:',
          hostname: 'localhost',
          port: 80,
          pathname: '/',
        },
        'http://[::1]:8080/a/b': {
          href: 'http://[::1]:8080/a/b',
          protocol: 'http:',
          hostname: '[::1]',
          port: 8080,
          pathname: '/a/b',
        },
      };
      for (const [redirectUri, redirectUrl] of Object.entries(parsed)) {
        const expected = { transport: stdio, headless: true, redirectUri, redirectUrl };
        expect(outcome(`--redirect-uri ${redirectUri}`, { REDIRECT_URI: 'nonsense' })).toEqual(expected);
        expect(outcome('', { REDIRECT_URI: redirectUri })).toEqual(expected);
      }
    },
  );

  test.each([
    'nonsense',
    '/callback',
    'localhost:3000',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'com.example.app:/callback',
    'ftp://h/x',
    'http://',
    'http://h:99999/',
    'https://user:c4n4ry@h/cb',
    'https://c4n4ry@h/cb',
    'https://h/cb#c4n4ry',
    'https://h/cb#',
    '//h/cb',
  ])('the redirect URI %s is refused and not repeated', (uri) => {
    expect(() => parseConfig(['--redirect-uri', uri], {})).toThrow(/^--redirect-uri must /);
    expect(() => parseConfig([], { REDIRECT_URI: uri })).toThrow(/^REDIRECT_URI must /);
    expect(outcome(`--redirect-uri ${uri}`, {})).not.toContain('c4n4ry');
  });
});

describe('arguments', () => {
  verifies('KIT-CFG-1', 'an unknown argument throws and names the nearest', () => {
    const meant: Record<string, string> = {
      '--prot=3000': '--port',
      '--prot 3000': '--port',
      '--Port 3000': '--port',
      '-port 3000': '--port',
      '--ports=3000': '--port',
      '--hots=x': '--host',
      '--stdin': '--stdio',
      stdio: '--stdio',
      '--head-less': '--headless',
      '--noheadless': '--no-headless',
      '--logLevel=info': '--log-level',
      '--log_level=info': '--log-level',
      '--loglvel=info': '--log-level',
      '--redirect-url=http://h': '--redirect-uri',
    };
    for (const [line, flag] of Object.entries(meant)) {
      const name = line.split(/[= ]/)[0];
      expect.soft(outcome(line, {}), line).toBe(`Unknown argument ${name}; did you mean ${flag}?`);
    }
    expect(outcome('--verbose', {})).toBe(
      'Unknown argument --verbose; allowed are --stdio, --port, --host, --headless, --no-headless, --log-level, --redirect-uri',
    );
  });

  verifies('KIT-CFG-1', 'flags that the server knows are passed over, with and without a value', () => {
    for (const line of ['--db=x', '--db x', '--db', '-v', '--db x -v --db=y'])
      expect(outcome(`${line} --port 80`, {}, ['db', '-v'])).toMatchObject(http(80));
    expect(outcome('--db x', {}, ['--db'])).toMatchObject({ transport: stdio });
    expect(outcome('--db x y', {}, ['db'])).toMatch(/^Unknown argument at position 3/);
    expect(outcome('--dbb=x', {}, ['database', 'dbs'])).toBe('Unknown argument --dbb; did you mean --dbs?');
    expect(outcome('--port=x', {}, ['port'])).toMatch(/^--port must be/);
  });

  test('words behind -- are left to the server', () => {
    expect(outcome('--port 80 -- --nonsense --stdio', {})).toMatchObject(http(80));
    expect(outcome('--port --', { PORT: '80' })).toMatch(NO_PORT);
  });

  test('a flag with a value is given once; a switch may be repeated', () => {
    expect(outcome('--port 80 --port 81', {})).toBe('--port is given more than once');
    expect(outcome('--host a --host=b --port 80', {})).toBe('--host is given more than once');
    expect(outcome('--stdio --stdio', {})).toMatchObject({ transport: stdio });
  });

  test('a switch takes no value', () => {
    expect(outcome('--stdio=false', {})).toBe('--stdio takes no value');
    expect(outcome('--no-headless=false', {})).toBe('--no-headless takes no value');
    expect(outcome('--headless false', {})).toMatch(/^Unknown argument at position 2/);
  });

  test('a flag is not taken as the value of the flag before it', () => {
    expect(outcome('--host --port 80', {})).toBe('--host needs a value');
    expect(outcome('--log-level --stdio', {})).toBe('--log-level needs a value');
  });

  verifies('KIT-CFG-1', 'several mistakes are one error, each with its flag or variable', () => {
    const text = outcome('--prot 1 --log-level loud', { PORT: 'x', HEADLESS: 'y', REDIRECT_URI: 'z' });
    expect(text).toBe(
      [
        'Invalid options:',
        '  - Unknown argument --prot; did you mean --port?',
        "  - PORT must be a whole number from 1 to 65535, not 'x'",
        "  - --log-level must be one of trace, debug, info, warn, error, silent, not 'loud'",
        '  - REDIRECT_URI must be an http or https URL, as in http://127.0.0.1:3000/callback',
        "  - HEADLESS must be true, false, 1 or 0, not 'y'",
      ].join('\n'),
    );
  });

  verifies('KIT-CFG-1', 'a variable that an argument overrides is not read', () => {
    const read = (line: string): string[] => {
      const names: string[] = [];
      const env = new Proxy<Env>({}, { get: (_, name) => void names.push(String(name)) });
      parseConfig(words(line), env);
      return [...new Set(names)].toSorted();
    };
    expect(read('--stdio')).toEqual(['HEADLESS', 'LOG_LEVEL', 'REDIRECT_URI']);
    expect(read('--port 80')).toEqual(['HEADLESS', 'HOST', 'LOG_LEVEL', 'REDIRECT_URI']);
    expect(read('--port 80 --host h --headless --log-level info --redirect-uri http://h')).toEqual([]);
    expect(read('--stdio --no-headless')).toEqual(['LOG_LEVEL', 'REDIRECT_URI']);
  });

  test('arguments and environment are not changed', () => {
    const args = Object.freeze(['--port', '80']);
    const env = Object.freeze({ HOST: 'h' });
    expect(parseConfig(args, env)).toMatchObject(http(80, 'h'));
  });
});

describe('any input', () => {
  const CANARY = 'c4n4ry-c4n4ry-c4n4ry-c4n4ry';
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '',
      'true',
      '0',
      '80',
      '-1',
      '70000',
      'h',
      '::1',
      'info',
      'http://h:1/x',
      'https://u:p@h',
      '--',
      CANARY,
    ),
  );
  const flag = fc.constantFrom(
    '--stdio',
    '--port',
    '--host',
    '--headless',
    '--no-headless',
    '--log-level',
    '--redirect-uri',
    '--prot',
    '-x',
    '--',
    '__proto__',
    '--constructor',
  );
  const argument = fc.oneof(
    flag,
    value,
    fc.tuple(flag, value).map(([name, text]) => `${name}=${text}`),
  );
  const name = fc.constantFrom(
    'PORT',
    'HOST',
    'HEADLESS',
    'LOG_LEVEL',
    'REDIRECT_URI',
    'API_KEY',
    '__proto__',
  );
  const env = fc.dictionary(name, fc.option(value, { nil: undefined }));

  verifies('KIT-CFG-1', 'any arguments and variables give a sound config or an error that helps', () => {
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 6 }), env, (args, variables) => {
        try {
          holdsInvariants(parseConfig(args, { ...variables, API_KEY: CANARY }));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          const { message } = error as Error;
          expect(message).toMatch(/--?\w|PORT|HOST|HEADLESS|LOG_LEVEL|REDIRECT_URI|position \d/);
          expect(message).not.toContain('c4n4ry');
          expect(message).not.toMatch(/u:p/);
        }
      }),
      { numRuns: 1000 },
    );
  });

  verifies('KIT-CFG-1', 'a config written as arguments or as variables is read back as it was', () => {
    const config = fc.record(
      {
        port: fc.integer({ min: 1, max: 65_535 }),
        host: fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()),
        headless: fc.boolean(),
        logLevel: fc.constantFrom('trace', 'debug', 'info', 'warn', 'error', 'silent'),
        redirectUri: fc.webUrl({ withQueryParameters: true }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(config, fc.boolean(), ({ port, host, headless, logLevel, redirectUri }, isSplit) => {
        const options: [string, string, string | undefined][] = [
          ['--port', 'PORT', port?.toString()],
          ['--host', 'HOST', port === undefined ? undefined : host],
          ['--log-level', 'LOG_LEVEL', logLevel],
          ['--redirect-uri', 'REDIRECT_URI', redirectUri],
        ];
        const given = options.flatMap(([flag, variable, text]) =>
          text === undefined ? [] : [{ flag, variable, text }],
        );
        const args = given.flatMap(({ flag, text }) => (isSplit ? [flag, text] : [`${flag}=${text}`]));
        const switches = headless === undefined ? [] : [headless ? '--headless' : '--no-headless'];
        const read = parseConfig([...args, ...switches], {});
        expect(read).toMatchObject({
          headless: headless ?? redirectUri !== undefined,
          transport: port === undefined ? stdio : { type: 'http', port, ...(host !== undefined && { host }) },
          ...(logLevel !== undefined && { logLevel }),
          ...(redirectUri !== undefined && { redirectUri, redirectUrl: { href: new URL(redirectUri).href } }),
        });
        const variables = Object.fromEntries(given.map(({ variable, text }) => [variable, text]));
        expect(parseConfig(switches, variables)).toEqual(read);
      }),
      { numRuns: 150 },
    );
  });

  function holdsInvariants(config: ParsedTransportConfig): void {
    const { transport, port, logLevel, redirectUri, redirectUrl, headless } = config;
    expect(port).toBe(transport.type === 'http' ? transport.port : undefined);
    if (transport.type === 'http') {
      expect(Number.isInteger(transport.port) && transport.port >= 1 && transport.port <= 65_535).toBe(true);
      if (transport.host !== undefined) expect(transport.host).toMatch(/^[\w.:%-]+$/);
    }
    if (logLevel !== undefined)
      expect(['trace', 'debug', 'info', 'warn', 'error', 'silent']).toContain(logLevel);
    expect(redirectUri === undefined).toBe(redirectUrl === undefined);
    if (redirectUrl !== undefined) {
      expect(redirectUrl.port).toBeGreaterThanOrEqual(0);
      expect(redirectUrl.protocol).toMatch(/^https?:$/);
    }
    expect(typeof headless).toBe('boolean');
    // Absent members are absent, and not undefined.
    expect(Object.values(config)).not.toContain(undefined);
  }
});

verifies('KIT-CFG-1', 'the types are those of the documents', () => {
  expectTypeOf<ParsedTransportConfig>().toEqualTypeOf<{
    transport: TransportConfig;
    headless: boolean;
    logLevel?: string;
    redirectUri?: string;
    redirectUrl?: ParsedRedirectUrl;
    port?: number;
  }>();
  expectTypeOf<TransportConfig>().toEqualTypeOf<
    { type: 'stdio' } | { type: 'http'; port: number; host?: string }
  >();
  expectTypeOf<ParsedRedirectUrl>().toEqualTypeOf<{
    href: string;
    protocol: string;
    hostname: string;
    port: number;
    pathname: string;
  }>();
  expectTypeOf<ServerConfig>().toEqualTypeOf<{ transport: TransportConfig; auth?: 'loopback-oauth' }>();
  expectTypeOf<typeof process.env>().toExtend<Parameters<typeof parseConfig>[1]>();
  expectTypeOf<string[]>().toExtend<Parameters<typeof parseConfig>[0]>();
  // @ts-expect-error Arguments and environment are given: the library reads no global.
  expect(() => parseConfig()).toThrow();
  const { transport } = parseConfig(['--port', '80'], {});
  // @ts-expect-error A port is there only once the transport is known to be HTTP.
  expect(transport.port).toBe(80);
  if (transport.type === 'http') expectTypeOf(transport.port).toEqualTypeOf<number>();
});
