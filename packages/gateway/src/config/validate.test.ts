import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { didYouMean } from './did-you-mean.ts';
import { missingCommand, serverKind } from './server-kind.ts';
import { ALLOW_LISTS, DENY_LISTS } from './tool-lists.ts';
import { validateConfig } from './validate.ts';

const server = (entry: unknown): unknown => ({ mcpServers: { files: entry } });
const command = { command: 'npx' };
const messages = (config: unknown): string[] =>
  validateConfig(config).errors.map(({ path, message }) => `${path} ${message}`);

describe('validateConfig', () => {
  verifies(
    ['AGG-CFG-1', 'AGG-CFG-2'],
    'validateConfig accepts the standard format and requires nothing beyond it',
    () => {
      const full = { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } };
      for (const config of [server(command), server(full), { mcpServers: {} }]) {
        expect(validateConfig(config)).toEqual({ isValid: true, errors: [], warnings: [] });
      }
    },
  );

  type Wrong = [what: string, config: unknown, path: string, begins: string, value?: unknown];
  const wrong: Wrong[] = [
    ['a config that is a list', [], '$', 'Config must be an object', []],
    ['a config that is null', null, '$', 'Config must be an object', null],
    ['no mcpServers', {}, '$.mcpServers', 'Missing required field: mcpServers'],
    ['mcpServers as a list', { mcpServers: [] }, '$.mcpServers', 'mcpServers must be an object', []],
    ['an empty key', { mcpServers: { '': command } }, '$.mcpServers[""]', 'Server key must not be empty', ''],
    ['a server as text', server('npx'), '$.mcpServers.files', 'Server config must be an object', 'npx'],
    ['no command', server({}), '$.mcpServers.files.command', 'Missing or invalid command'],
    [
      'a command as list',
      server({ command: ['npx'] }),
      '$.mcpServers.files.command',
      'Missing or invalid command',
      ['npx'],
    ],
    [
      'a blank command',
      server({ command: ' ' }),
      '$.mcpServers.files.command',
      'Missing or invalid command',
      ' ',
    ],
    [
      'args as text',
      server({ ...command, args: '-y' }),
      '$.mcpServers.files.args',
      'args must be an array',
      '-y',
    ],
    [
      'args with a number',
      server({ ...command, args: ['-p', 1] }),
      '$.mcpServers.files.args[1]',
      'args must be an array of strings',
      1,
    ],
    ['env as a list', server({ ...command, env: [] }), '$.mcpServers.files.env', 'env must be an object', []],
    [
      'env as null',
      server({ ...command, env: null }),
      '$.mcpServers.files.env',
      'env must be an object',
      null,
    ],
    [
      'env with a number',
      server({ ...command, env: { PORT: 1 } }),
      '$.mcpServers.files.env.PORT',
      'env must be an object of strings',
      1,
    ],
    [
      'a key of two words',
      { mcpServers: { 'my server': { ...command, args: 1 } } },
      '$.mcpServers["my server"].args',
      'args must be',
      1,
    ],
    [
      'a timeout of 0',
      server({ ...command, timeout: 0 }),
      '$.mcpServers.files.timeout',
      'timeout must be a positive number',
      0,
    ],
    [
      'a timeout of NaN',
      server({ ...command, timeout: NaN }),
      '$.mcpServers.files.timeout',
      'timeout must be',
      NaN,
    ],
    [
      'a timeout over 2^31 ms',
      server({ ...command, startupTimeout: 2 ** 31 }),
      '$.mcpServers.files.startupTimeout',
      'startupTimeout must be',
      2 ** 31,
    ],
    [
      'inheritEnv as text',
      server({ ...command, inheritEnv: 'A' }),
      '$.mcpServers.files.inheritEnv',
      'inheritEnv must be true or',
      'A',
    ],
    [
      'inheritEnv with a number',
      server({ ...command, inheritEnv: [1] }),
      '$.mcpServers.files.inheritEnv[0]',
      'inheritEnv must be true or',
      1,
    ],
    [
      'an unknown value of sharing',
      server({ ...command, sharing: 'x' }),
      '$.mcpServers.files.sharing',
      'sharing must be',
      'x',
    ],
    [
      'an unknown value of era',
      server({ ...command, era: '2025-11-25' }),
      '$.mcpServers.files.era',
      'era must be',
      '2025-11-25',
    ],
    ['tools as text', server({ ...command, tools: 'x' }), '$.mcpServers.files.tools', 'tools must be', 'x'],
    [
      'a tool setting as text',
      server({ ...command, tools: { a: 'x' } }),
      '$.mcpServers.files.tools.a',
      'The settings of a tool',
      'x',
    ],
    ...[...ALLOW_LISTS, ...DENY_LISTS].map((key): Wrong => [
      `${key} with a number`,
      server({ ...command, [key]: ['a', 1] }),
      `$.mcpServers.files.${key}[1]`,
      `${key} must be an array of names`,
      1,
    ]),
    [
      'a limit of 1.5',
      { mcpServers: {}, mcpConcurrentLimit: 1.5 },
      '$.mcpConcurrentLimit',
      'mcpConcurrentLimit must be',
      1.5,
    ],
    [
      'a limit below -1',
      { mcpServers: {}, mcpSessionLimit: -2 },
      '$.mcpSessionLimit',
      'mcpSessionLimit must be',
      -2,
    ],
    [
      'an address without http',
      server({ url: 'example.com' }),
      '$.mcpServers.files.url',
      'url must begin with',
      'example.com',
    ],
    [
      'an address of a file',
      server({ sseConfig: { url: 'file:///x' } }),
      '$.mcpServers.files.sseConfig.url',
      'url must begin',
      'file:///x',
    ],
    [
      'sseConfig without an address',
      server({ sseConfig: {} }),
      '$.mcpServers.files.sseConfig.url',
      'Missing required field: url',
    ],
  ];
  for (const [what, config, path, begins, ...value] of wrong) {
    verifies('AGG-CFG-2', `validateConfig refuses ${what}, with its place and a remedy`, () => {
      const { isValid, errors } = validateConfig(config);
      expect(isValid).toBe(false);
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatchObject({ path, ...(value.length > 0 && { value: value[0] }) });
      expect(errors[0]!.message.startsWith(begins)).toBe(true);
      expect(errors[0]!.message.length).toBeGreaterThan(begins.length);
    });
  }

  verifies('AGG-CFG-2', 'validateConfig names "url" and "image" as alternatives to a missing command', () => {
    expect(messages(server({ args: [] }))).toEqual([`$.mcpServers.files.command ${missingCommand()}`]);
  });

  verifies('AGG-CFG-2', 'validateConfig refuses a server of two kinds and accepts each kind alone', () => {
    const refused = [
      { command: 'x', url: 'https://x' },
      { url: 'https://x', image: 'y' },
      { command: 'x', dockerConfig: { image: 'y', containerName: 'z' } },
    ];
    for (const entry of refused) {
      expect(messages(server(entry))[0]).toContain(
        '$.mcpServers.files A server has exactly one of command, url',
      );
    }
    const accepted = [
      [{ command: 'x' }, 'command'],
      [{ url: 'https://x' }, 'remote'],
      [{ url: '${BASE}/mcp', sseConfig: { url: 'http://x/sse' } }, 'remote'],
      [{ image: 'mcp/time' }, 'container'],
      [
        { dockerConfig: { image: 'y', containerName: 'zz', command: ['a'], ports: { '80': 8080 } } },
        'container',
      ],
    ] as const;
    for (const [entry, kind] of accepted) {
      expect(messages(server(entry))).toEqual([]);
      expect(serverKind(JSON.parse(JSON.stringify(entry)) as object)).toBe(kind);
    }
  });

  verifies('AGG-CFG-2', 'validateConfig reports all mistakes at once in the order of the file', () => {
    const config = { mcpServers: { a: { command: 1, args: 'x' }, b: 2, c: { url: 'nope', env: [] } } };
    expect(validateConfig(config).errors.map(({ path }) => path)).toEqual([
      '$.mcpServers.a.command',
      '$.mcpServers.a.args',
      '$.mcpServers.b',
      '$.mcpServers.c.env',
      '$.mcpServers.c.url',
    ]);
  });

  verifies('AGG-CFG-2', 'validateConfig treats undefined and inherited values as absent', () => {
    expect(messages(server({ command: 'x', args: undefined, url: undefined }))).toEqual([]);
    expect(messages({ mcpServers: undefined })).toHaveLength(1);
    const inherited: unknown = Object.create({ command: 'x' });
    expect(messages(server(inherited))).toHaveLength(1);
  });

  verifies('AGG-CFG-4', 'validateConfig accepts the keys that other hosts write', () => {
    const local = { type: 'stdio', disabled: false, cwd: '/tmp', ...command, transport: 'stdio' };
    const remote = { type: 'streamable-http', url: 'https://x/mcp', headers: { A: 'b' }, tools: ['*'] };
    const config = { $schema: 'x', mcpServers: { local, remote } };
    expect(validateConfig(config)).toEqual({ isValid: true, errors: [], warnings: [] });
  });

  verifies('AGG-CFG-4', 'validateConfig gives one warning for each object with unknown keys', () => {
    const config = { mcpServers: { a: { ...command, alwaysAllow: [], argz: [] } }, globalShortcut: 'x' };
    expect(validateConfig(config)).toEqual({
      isValid: true,
      errors: [],
      warnings: [
        {
          path: '$.mcpServers.a',
          message: 'Unknown keys ignored: "alwaysAllow", "argz" (did you mean "args"?)',
        },
        { path: '$', message: 'Unknown key ignored: "globalShortcut"' },
      ],
    });
  });

  const spellings: [keys: string[], meant: string][] = [
    [['include', 'allowed', 'allowedTools', 'allowed_tools', 'whitelist'], '"includeTools"'],
    [['exclude', 'blocked', 'hide', 'hiddenTools', 'denylist', 'disallowed_tools'], '"excludeTools"'],
    [
      ['rename', 'renames', 'alias', 'aliases', 'toolOverrides'],
      '"tools": { "TOOL": { "rename": "NEW_NAME" } }',
    ],
  ];
  for (const [keys, meant] of spellings)
    verifies('AGG-CFG-4', `validateConfig suggests ${meant} for other spellings in a server`, () => {
      for (const key of keys)
        expect(validateConfig(server({ ...command, [key]: [] })).warnings).toEqual([
          {
            path: '$.mcpServers.files',
            message: `Unknown key ignored: "${key}" (did you mean ${meant}?)`,
          },
        ]);
    });

  verifies('AGG-CFG-4', 'validateConfig suggests the keys of a tool for other spellings in one', () => {
    const { warnings } = validateConfig(server({ ...command, tools: { read: { name: 'x', hide: true } } }));
    const message =
      'Unknown keys ignored: "name" (did you mean "rename"?), "hide" (did you mean "enabled": false?)';
    expect(warnings).toEqual([{ path: '$.mcpServers.files.tools.read', message }]);
  });

  verifies('AGG-CFG-4', 'validateConfig suggests nothing for the spelling of a server elsewhere', () => {
    const { warnings } = validateConfig({ mcpServers: {}, exclude: [], rename: {} });
    expect(warnings).toEqual([{ path: '$', message: 'Unknown keys ignored: "exclude", "rename"' }]);
  });

  verifies('AGG-CFG-4', 'validateConfig gives one short warning for 30 unknown keys', () => {
    const others = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`other${index}`, index]));
    const { warnings } = validateConfig({ ...others, mcpServers: {} });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.message).toMatch(/"other7" and 22 more$/);
  });

  verifies('AGG-CFG-4', 'validateConfig accepts the keys of Weir beside the standard ones', () => {
    const entry = {
      ...command,
      enabled: true,
      name: 'Files',
      timeout: 30_000,
      startupTimeout: 10_000,
      tools: { search: { enabled: false, timeout: 60_000 } },
      inheritEnv: ['AWS_PROFILE'],
      sharing: 'per-session',
      era: 'legacy',
      lazy: true,
      sectionBindings: [{ sectionType: 'heading', headingText: '## Tools', inheritToChildren: true }],
    };
    const range = {
      sectionType: 'range',
      startLine: 1,
      endLine: 9,
      serverId: 'files',
      documentPath: '*.md',
      blockId: '^x',
    };
    const limits = {
      mcpGlobalTimeout: 1000,
      mcpConcurrentLimit: 25,
      mcpSessionLimit: -1,
      sectionBindings: [range],
    };
    const later = 'sectionBindings is understood, but nothing acts on it yet';
    expect(validateConfig({ mcpServers: { files: entry }, ...limits })).toMatchObject({
      isValid: true,
      warnings: [
        { path: '$.mcpServers.files.sectionBindings', message: later },
        { path: '$.sectionBindings', message: later },
      ],
    });
  });

  verifies(
    'AGG-CFG-4',
    'validateConfig warns of a timeout that looks like seconds and of variables that are never passed on',
    () => {
      const { isValid, warnings } = validateConfig(
        server({ ...command, timeout: 60, inheritEnv: ['WEIR_TOKEN'] }),
      );
      expect(isValid).toBe(true);
      expect(warnings.map(({ path }) => path)).toEqual([
        '$.mcpServers.files.timeout',
        '$.mcpServers.files.inheritEnv',
      ]);
    },
  );

  verifies('AGG-CFG-2', 'validateConfig says which part of a URL is not valid', () => {
    const mistake = (url: string): unknown => validateConfig(server({ url })).errors[0]?.message;
    expect(mistake('https://example.com:99999/mcp')).toBe('url is not valid: check its host and port');
    expect(mistake('example.com/mcp')).toBe('url must begin with http:// or https://');
  });

  verifies('AGG-CFG-4', 'validateConfig warns of cwdFromRoots for a server that clients share', () => {
    const warned = (more: object): string[] =>
      validateConfig(server({ ...command, cwdFromRoots: true, ...more })).warnings.map(({ path }) => path);
    expect(warned({})).toEqual(['$.mcpServers.files.cwdFromRoots']);
    expect(warned({ sharing: 'shared' })).toEqual(['$.mcpServers.files.cwdFromRoots']);
    for (const more of [{ sharing: 'per-session' }, { sharing: 'per-call' }, { cwdFromRoots: false }])
      expect(warned(more)).toEqual([]);
  });

  const docker = { dockerConfig: { image: 'x', containerName: 'yy' } };
  const deployments: [entry: object, refused: string | undefined][] = [
    [{ deploymentType: 'managed', transport: 'stdio', ...docker }, undefined],
    [
      { deploymentType: 'managed', transport: 'sse', dockerConfig: { ...docker.dockerConfig, port: 80 } },
      undefined,
    ],
    [{ deploymentType: 'external', transport: 'sse', sseConfig: { url: 'https://x/sse' } }, undefined],
    [{ deploymentType: 'external', url: 'https://x' }, undefined],
    [{ transport: 'stdio', command: 'x' }, undefined],
    [{ deploymentType: 'managed', command: 'x' }, 'deploymentType "managed" needs "dockerConfig" or "image"'],
    [
      { deploymentType: 'external', image: 'x' },
      'deploymentType "external" needs "sseConfig": { "url": "…" } or "url"',
    ],
    [
      { deploymentType: 'external', transport: 'stdio', url: 'https://x' },
      'transport "stdio" needs "deploymentType": "managed"',
    ],
    [{ deploymentType: 'local', command: 'x' }, 'deploymentType must be "managed"'],
  ];
  for (const [entry, refused] of deployments) {
    verifies(
      'MANAGED-5',
      `validateConfig ${refused === undefined ? 'accepts' : 'refuses'} ${JSON.stringify(entry)}`,
      () => {
        const found = messages(server(entry));
        expect(found).toHaveLength(refused === undefined ? 0 : 1);
        expect(found[0] ?? '').toContain(refused ?? '');
      },
    );
  }

  const transports: [transport: string, isKnown: boolean][] = [
    ['stdio', true],
    ['sse', true],
    ['http', true],
    ['streamable-http', true],
    ['streamableHttp', true],
    ['streamable_http', true],
    ['remote', true],
    ['local', true],
    ['${TRANSPORT}', true],
    ['websocket', false],
    ['STDIO', false],
    ['', false],
  ];
  for (const [transport, isKnown] of transports)
    for (const key of ['transport', 'type'])
      verifies(
        'MANAGED-5',
        `validateConfig ${isKnown ? 'knows' : 'does not know'} the ${key} "${transport}"`,
        () => {
          const alone = validateConfig(server({ command: 'x', [key]: transport }));
          expect(alone.errors).toEqual([]);
          expect(alone.warnings.map(({ path }) => path)).toEqual(
            isKnown ? [] : [`$.mcpServers.files.${key}`],
          );
          const external = { deploymentType: 'external', url: 'https://x', [key]: transport };
          const isLocal = transport === 'stdio' || transport === 'local';
          const found = messages(server(external));
          expect(found).toHaveLength(isKnown && !isLocal ? 0 : 1);
          if (!isKnown)
            expect(found[0]).toContain(`${key} must be "stdio", "sse", "http" or "streamable-http"`);
        },
      );

  verifies('MANAGED-5', 'validateConfig refuses a name that is the key of another server', () => {
    const config = { mcpServers: { a: { ...command, name: 'b' }, b: { ...command, name: 'b' } } };
    expect(messages(config)).toEqual([
      '$.mcpServers.a.name name must be unique: the server "b" has the same key',
      '$.mcpServers.b.name name must be unique: the server "a" has the same name',
    ]);
    expect(messages({ mcpServers: { a: { ...command, name: 'a' }, b: { ...command, name: 'B' } } })).toEqual(
      [],
    );
  });

  verifies('MANAGED-5', 'validateConfig refuses a name that two servers share', () => {
    const config = {
      mcpServers: {
        a: { ...command, name: 'X' },
        b: { ...command, name: 'X' },
        c: { ...command, name: 'Y' },
      },
    };
    expect(messages(config)).toEqual([
      '$.mcpServers.b.name name must be unique: the server "a" has the same name',
    ]);
  });
});

describe('the overrides of tools', () => {
  const overrides = (tools: unknown): string[] => messages(server({ ...command, tools }));

  verifies('AGG-CFG-4', 'validateConfig accepts another name and description for a tool', () => {
    expect(
      overrides({ read_file: { rename: 'a.b/c-D_9', description: 'Reads.' }, x: { rename: 'x' } }),
    ).toEqual([]);
  });

  verifies('AGG-CFG-4', 'validateConfig refuses to rename two tools of a server to one name', () => {
    expect(overrides({ a: { rename: 'c' }, b: { rename: 'c' } })).toEqual([
      '$.mcpServers.files.tools.b.rename rename must be unique: the tool "a" of this server gets the same name',
    ]);
  });

  verifies('AGG-CFG-4', 'validateConfig refuses a tool name that the protocol does not allow', () => {
    for (const rename of ['a b', 'a:b', 'ä', 'x'.repeat(129)])
      expect(overrides({ a: { rename } })[0]).toContain('rename may have 1 to 128 letters');
    expect(overrides({ a: { rename: '' } })[0]).toContain('rename must be the new name of the tool');
  });

  verifies('AGG-CFG-4', 'validateConfig refuses to rename or describe a pattern of tools', () => {
    expect(overrides({ 'read_*': { rename: 'read', description: 'Reads.', enabled: true } })).toEqual([
      '$.mcpServers.files.tools["read_*"].rename rename needs the exact name of a tool, and "read_*" is a pattern: write an entry for each tool',
      '$.mcpServers.files.tools["read_*"].description description needs the exact name of a tool, and "read_*" is a pattern: write an entry for each tool',
    ]);
  });
});

describe('didYouMean', () => {
  verifies('AGG-CFG-4', 'didYouMean returns the nearest known word if one is near', () => {
    const known = ['command', 'args', 'env', 'timeout'];
    expect(didYouMean('comand', known)).toBe('command');
    expect(didYouMean('Command', known)).toBe('command');
    expect(didYouMean('enabbled', ['enables', 'enabled'])).toBe('enabled');
    expect(didYouMean('arg', known)).toBe('args');
    expect(didYouMean('timeOuts', known)).toBe('timeout');
    expect(didYouMean('alwaysAllow', known)).toBeUndefined();
    expect(didYouMean('comment', known)).toBeUndefined();
    expect(didYouMean('x', known)).toBeUndefined();
    expect(didYouMean('', known)).toBeUndefined();
  });
});
