// The gateway inside another program: its exports and their use.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as library from '@weir/gateway';
import type {
  AggregatorServer,
  ChildServerClient,
  CliArgs,
  ConfigValidation,
  ExpansionContext,
  ExpansionResult,
  JSONSchema,
  McpConfig,
  ServerConfig,
  ToolRegistry,
  ToolRegistryEntry,
  ToolSchema,
  ValidationError,
} from '@weir/gateway';
import { build } from 'esbuild';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  scripted,
  temporaryFolder,
  textOf,
  type ServerEntry,
} from '../../support/harness.ts';
import { counted, createTestGateway, serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const {
  ChildServerError,
  ConfigError,
  createGateway,
  gatewayFor,
  loadConfig,
  lookupTool,
  RpcError,
  ServerStatus,
} = library;
type ConfigError = library.ConfigError;

describe('the exports of the library', () => {
  verifies('AGG-API-1', 'the library exports these values and no others', () => {
    expect(Object.keys(library).toSorted()).toEqual([
      'ChildServerError',
      'ConfigError',
      'ConfigErrorCode',
      'DEFAULT_PORT',
      'ErrorPhase',
      'LOCK_FILE',
      'RpcError',
      'RpcErrorCode',
      'ServerStatus',
      'addServerTools',
      'askGateway',
      'createGateway',
      'createLock',
      'describeConfigError',
      'endGateway',
      'executionTracker',
      'expandConfigEnvVars',
      'expandEnvVar',
      'findGateways',
      'followGateway',
      'gatewayFor',
      'isLoopback',
      'listContainers',
      'loadConfig',
      'lookupTool',
      'openControlSocket',
      'parseToolPrefix',
      'readHistory',
      'removeOrphans',
      'removeServerTools',
      'serveHttp',
      'serveStdio',
      'serverConfigs',
      'stateToken',
      'validateConfig',
      'validateSeparator',
      'validateToolName',
    ]);
  });

  verifies('AGG-API-1', 'the library exports these types and no others', () => {
    // The compiler holds the list of imports above to be true; here stand the names that only types have.
    const index = readFileSync(new URL('../../../packages/gateway/src/index.ts', import.meta.url), 'utf8');
    const types = [...index.matchAll(/export type \{([^}]*)\}/gu)].flatMap(([, names = '']) =>
      names.split(','),
    );
    expect(
      types
        .map((name) => name.trim())
        .filter(Boolean)
        .toSorted(),
    ).toEqual([
      'AggregatorServer',
      'ChildServerClient',
      'CliArgs',
      'ConfigChanges',
      'ConfigValidation',
      'ErrorInfo',
      'ExecutionTracker',
      'ExpansionContext',
      'ExpansionResult',
      'FoundGateway',
      'Gateway',
      'GatewayEvent',
      'GatewayInfo',
      'GatewayListener',
      'GatewayOptions',
      'GatewayReport',
      'GroupTools',
      'HttpFront',
      'HttpLimits',
      'HttpOptions',
      'InvocationSource',
      'InvocationStatus',
      'InvokingClient',
      'JSONSchema',
      'LoadedConfig',
      'LockOptions',
      'Log',
      'LoggedLine',
      'MCPServerConfig',
      'McpConfig',
      'OwnedContainer',
      'Reaped',
      'ReportedServer',
      'SectionBinding',
      'ServerClient',
      'ServerConfig',
      'ServerEvent',
      'ServerHealthStatus',
      'ServerReport',
      'SocketLocation',
      'StateToken',
      'StdioOptions',
      'SupervisionRules',
      'ToolExecutionResult',
      'ToolInvocationRequest',
      'ToolRegistry',
      'ToolRegistryEntry',
      'ToolSchema',
      'TrackedScope',
      'ValidationError',
    ]);
    type Documented = [
      ...[
        AggregatorServer,
        ChildServerClient,
        CliArgs,
        ConfigValidation,
        ExpansionContext,
        ExpansionResult<unknown>,
      ],
      ...[JSONSchema, McpConfig, ServerConfig, ToolRegistry, ToolRegistryEntry, ToolSchema, ValidationError],
    ];
    expect<Documented['length']>(13).toBe(13);
  });

  verifies('AGG-API-1', 'the library exports constants as objects of their values', () => {
    expect(ServerStatus).toEqual({
      INITIALIZING: 'initializing',
      RUNNING: 'running',
      FAILED: 'failed',
      STOPPED: 'stopped',
    });
    expect(library.ErrorPhase).toEqual({
      STARTUP: 'startup',
      INITIALIZATION: 'initialization',
      RUNTIME: 'runtime',
    });
    expect(library.ConfigErrorCode).toEqual({
      FILE_NOT_FOUND: 'file_not_found',
      INVALID_JSON: 'invalid_json',
      INVALID_SCHEMA: 'invalid_schema',
      MISSING_ENV_VAR: 'missing_env_var',
    });
  });
});

describe('the imports of the library', () => {
  verifies(
    'AGG-API-1',
    'a program that imports the library loads only the store and the access checks of another package',
    async () => {
      const { metafile } = await build({
        stdin: {
          contents: `import '@weir/gateway';`,
          resolveDir: fileURLToPath(new URL('.', import.meta.url)),
        },
        bundle: true,
        platform: 'node',
        format: 'esm',
        conditions: ['@weir/source'],
        metafile: true,
        write: false,
      });
      const files = Object.keys(metafile.inputs).filter((path) => !path.includes('packages/gateway/src/'));
      expect(files).toContain('packages/server/src/store.ts');
      const expected = /^(<stdin>|packages\/server\/src\/(access|store|internal|logger)(\.ts|\/.*))$/u;
      expect(files.filter((path) => !expected.test(path))).toEqual([]);
    },
  );
});

describe('a gateway in a program', () => {
  verifies(
    'AGG-API-1',
    'a gateway in a program starts its servers, lists and calls tools, and stops them',
    async () => {
      const gateway = createTestGateway({ e: fixture('echo'), m: fixture('modern') });
      const statuses = (): string[] => Array.from(gateway.children.values(), ({ status }) => status);
      expect(statuses()).toEqual(['initializing', 'initializing']);
      const started = gateway.start();
      expect(gateway.start()).toBe(started);
      await started;
      expect(statuses()).toEqual(['running', 'running']);

      const tools = await gateway.listTools();
      expect(tools.map(({ name }) => name).slice(0, 2)).toEqual(['e:echo', 'e:add']);
      expect(tools.find(({ name }) => name === 'm:echo')).toMatchObject({
        'x-kept': { since: '2026-07-28' },
      });
      expect(await gateway.callTool('e:add', { a: 1, b: 2 })).toEqual({
        content: [{ type: 'text', text: '3' }],
        structuredContent: { sum: 3 },
      });
      expect(await gateway.callTool('m:echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
      expect(await gateway.callTool('e:seen')).toMatchObject({ content: [{ type: 'text' }] });

      await gateway.close();
      expect(statuses()).toEqual(['stopped', 'stopped']);
      await expect(gateway.callTool('e:echo')).rejects.toThrow("Server 'e' has been stopped");
      await gateway.close();
    },
  );

  verifies('AGG-API-1', 'a gateway in a program starts at its first use', async () => {
    const { entry, starts } = counted(fixture('echo'));
    const gateway = createTestGateway({ e: entry });
    expect(await gateway.callTool('e:echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
    expect(await gateway.listTools()).toHaveLength(8);
    expect(starts()).toBe(1);
    await gateway.close();
  });

  verifies('AGG-API-1', 'gatewayFor serves a loaded config file', async () => {
    const path = join(temporaryFolder(), 'mcp.json');
    const server = { ...fixture('echo'), env: { NAME: '${WHO}' } };
    writeFileSync(path, JSON.stringify({ mcpServers: { e: server } }));
    const env = { ...process.env, WHO: 'x' };
    const gateway = gatewayFor(loadConfig(path, { env }), { env });
    expect(gateway.config.mcpServers['e']?.env).toEqual({ NAME: 'x' });
    expect(await gateway.callTool('e:echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
    await gateway.close();
  });

  verifies(['AGG-API-1', 'AGG-CALL-2'], 'callTool throws errors with their code and data', async () => {
    const gateway = createTestGateway({ e: fixture('echo'), m: fixture('modern') });
    const failure = (name: string, args?: Record<string, unknown>): Promise<unknown> =>
      gateway.callTool(name, args).then(
        () => 'no error',
        (error: unknown) => error,
      );
    expect(await failure('e:nobody')).toMatchObject({ code: -32602, message: 'Tool not found: e:nobody' });
    expect(await failure('e:nobody')).toBeInstanceOf(RpcError);
    const error = { code: -31999, message: 'refused', data: { why: [1] } };
    for (const key of ['e', 'm']) expect(await failure(`${key}:error`, error)).toMatchObject(error);
    expect(await gateway.callTool('e:fail')).toMatchObject({ isError: true });
    await gateway.close();
  });

  verifies(['AGG-API-1', 'AGG-REG-1'], 'a program can look up tools in a copy of the registry', async () => {
    const gateway = createTestGateway({ e: fixture('echo') }, { separator: '__' });
    expect(gateway.registry.size).toBe(0);
    await gateway.start();
    const entry = lookupTool(gateway.registry, 'e__echo');
    expect(entry).toMatchObject({
      serverKey: 'e',
      originalName: 'echo',
      schema: { name: 'e__echo', inputSchema: { type: 'object' } },
    });
    expect(entry?.client).toBe(gateway.children.get('e')?.client);
    expect(await entry?.client.callTool({ name: 'echo', arguments: { text: 'x' } })).toMatchObject({
      content: [{ text: 'x' }],
    });
    expect((await entry?.client.listTools())?.tools[0]).toMatchObject({ name: 'echo' });
    expect({ ...entry }).toMatchObject({ serverKey: 'e', originalName: 'echo', schema: { name: 'e__echo' } });
    // A program owns its copies: what it does to them changes nothing in the gateway.
    const copy = gateway.registry;
    library.removeServerTools(copy, 'e');
    expect(copy.size).toBe(0);
    gateway.children.clear();
    expect([gateway.registry.size, gateway.children.size]).toEqual([8, 1]);
    const { tools } = await entry!.client.listTools();
    library.addServerTools(copy, 'other', entry!.client, tools.slice(0, 1), '__');
    expect(copy.get('other__echo')).toMatchObject({ serverKey: 'other', originalName: 'echo' });
    await gateway.close();
  });

  verifies(
    ['AGG-API-1', 'AGG-CHILD-3'],
    'start() rejects with the server that fails, and all others are stopped',
    async () => {
      const gateway = createTestGateway({ e: fixture('echo'), x: fixture('exit-at-start') });
      const error = await gateway.start().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ChildServerError);
      expect(error).toMatchObject({
        serverKey: 'x',
        phase: 'initialization',
        message: expect.stringContaining('the database is not there') as string,
      });
      expect(gateway.children.get('x')?.status).toBe('failed');
      expect(gateway.children.get('x')?.error).toBe(error);
      expect(gateway.children.get('e')?.status).toBe('stopped');
      await expect(gateway.listTools()).rejects.toBe(error);
      const missing = createTestGateway({ n: { command: 'no-such-command-anywhere' } });
      await expect(missing.start()).rejects.toMatchObject({ serverKey: 'n', phase: 'startup' });
    },
  );

  verifies(
    ['AGG-API-1', 'AGG-CHILD-1'],
    'a server whose gateway is closed while it starts goes from initializing to stopped',
    async () => {
      const gateway = createTestGateway({ s: fixture('silent') });
      const started = gateway.start().catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(gateway.children.get('s')?.status).toBe('initializing');
      await gateway.close();
      expect(gateway.children.get('s')?.status).toBe('stopped');
      expect(await started).toBeInstanceOf(ChildServerError);
    },
  );

  verifies('AGG-API-1', 'a server of a gateway in a program cannot ask questions', async () => {
    const gateway = createTestGateway({ a: fixture('asks-client') });
    expect(await gateway.callTool('a:elicit')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('the client does not support') as string }],
    });
    await gateway.close();
  });

  verifies('AGG-API-1', 'two gateways in a program share no state', async () => {
    const [one, two] = [
      createTestGateway({ a: fixture('echo') }),
      createTestGateway({ a: fixture('revision-2024-11-05'), b: fixture('echo') }),
    ];
    await Promise.all([one.start(), two.start()]);
    expect(one.registry.size).toBe(8);
    expect(two.registry.size).toBe(9);
    await one.close();
    expect(await two.callTool('a:echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
    await two.close();
  });

  verifies(['AGG-API-1', 'AGG-SEP-1'], 'createGateway refuses an empty or blank separator', () => {
    expect(() => createTestGateway({}, { separator: '' })).toThrow('Separator cannot be empty');
    expect(() => createTestGateway({}, { separator: ' ' })).toThrow('Separator cannot contain whitespace');
  });
});

describe('a gateway on a pair of streams', () => {
  verifies(['AGG-API-1', 'AGG-REG-3'], 'a gateway on streams ends at once when its input ends', async () => {
    const weir = serveInProcess({ e: fixture('echo') });
    await weir.tools();
    const began = performance.now();
    await weir.close();
    expect(performance.now() - began).toBeLessThan(900);
  });

  verifies(
    ['AGG-API-1', 'AGG-REG-3'],
    'a gateway on streams answers requests that came before the end of its input',
    async () => {
      const weir = serveInProcess({ e: fixture('echo') });
      const [opened, called] = [weir.initialize(), weir.callTool('e:echo', { text: 'late' })];
      weir.input.end();
      expect((await opened).result).toBeDefined();
      expect(textOf(await called)).toBe('late');
      await weir.served;
    },
  );

  verifies(
    ['AGG-API-1', 'AGG-CHILD-3'],
    'a gateway on streams tells its client why the start failed, and rejects',
    async () => {
      const weir = serveInProcess({ x: fixture('exit-at-start') });
      const [, list] = [weir.initialize(), weir.request('tools/list')];
      await expect(weir.served).rejects.toBeInstanceOf(ChildServerError);
      expect((await list).error).toMatchObject({
        code: -32000,
        message: expect.stringContaining("'x'") as string,
      });
    },
  );

  verifies(
    ['AGG-REG-3', 'AGG-CALL-3'],
    'a request that is cancelled before its server runs gets no answer',
    async () => {
      await using weir = serveInProcess({ s: fixture('slow-start', '500') });
      await weir.initialize();
      weir.send({
        id: 'gone',
        method: 'tools/call',
        params: { name: 's:echo', arguments: { text: 'gone' } },
      });
      weir.notify('notifications/cancelled', { requestId: 'gone' });
      weir.send({ id: 'same', method: 'tools/call', params: { name: 's:echo', arguments: { text: 'one' } } });
      weir.send({ id: 'same', method: 'tools/call', params: { name: 's:echo', arguments: { text: 'two' } } });
      expect([textOf(await weir.answer('same')), textOf(await weir.answer('same'))]).toEqual(['one', 'two']);
      expect(weir.messages.filter(({ id }) => id === 'gone')).toEqual([]);
    },
  );

  verifies(
    ['AGG-REG-3', 'ERA-4'],
    'a gateway on streams starts no server for a host that only probes',
    async () => {
      const { entry, starts } = counted(fixture('echo'));
      const weir = serveInProcess({ e: entry });
      expect((await weir.request('server/discover', modernMeta())).result).toBeDefined();
      await weir.close();
      expect(starts()).toBe(0);
    },
  );

  verifies(['AGG-API-1', 'AGG-CHILD-5'], 'a gateway on streams ends when its output breaks', async () => {
    const weir = serveInProcess({ e: fixture('echo') });
    await weir.tools();
    weir.output.destroy(new Error('EPIPE'));
    await weir.served;
    expect(weir.gateway.children.get('e')?.status).toBe('stopped');
  });
});

describe('the first list', () => {
  const delays: readonly Record<string, number>[] = [
    { a: 0, b: 150, c: 300 },
    { a: 300, b: 150, c: 0 },
    { a: 150, b: 0, c: 300 },
  ];
  const slow = (milliseconds: number, key: string): ServerEntry =>
    scripted(`
      import { setTimeout as sleep } from 'node:timers/promises';
      import { serve, tool } from 'stdio';
      await sleep(${milliseconds});
      serve({ name: '${key}', tools: ['z', 'a', 'm'].map((name) => tool(name)) });`);

  verifies('AGG-REG-1', 'the first list has the same bytes in whatever order servers start', async () => {
    const lists = new Set<string>();
    for (const order of [...delays, ...delays]) {
      const servers = Object.fromEntries(Object.entries(order).map(([key, ms]) => [key, slow(ms, key)]));
      await using weir = serveInProcess({ ...servers, e: fixture('echo'), m: fixture('modern') });
      await weir.tools();
      lists.add(weir.lines.at(-1) ?? '');
    }
    expect(lists.size).toBe(1);
    expect([...lists][0]).toMatch(/"a:z".*"a:a".*"a:m".*"b:z".*"c:z".*"e:echo".*"m:echo"/u);
  });

  verifies('AGG-REG-1', 'the list keeps config order when a server starts late', async () => {
    const servers = { a: slow(2000, 'a'), b: slow(0, 'b') };
    await using weir = serveInProcess(servers, { keepGoing: true });
    expect(await weir.tools()).toEqual(['b:z', 'b:a', 'b:m']);
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['a:z', 'a:a', 'a:m', 'b:z', 'b:a', 'b:m']);
  });
});

describe('a config that a program hands over', () => {
  const refusal = (config: unknown): ConfigError => {
    try {
      createGateway(config as McpConfig);
    } catch (error) {
      if (error instanceof ConfigError) return error;
      throw error;
    }
    throw new Error('The config was accepted');
  };

  const wrong: [config: unknown, errors: object[]][] = [
    [{ a: {} }, [{ path: '$.mcpServers', message: /^Missing required field: mcpServers/u }]],
    [
      { mcpServers: { a: {} } },
      [
        {
          path: '$.mcpServers.a.command',
          message: /^Missing or invalid command: /u,
        },
      ],
    ],
    [undefined, [{ path: '$', message: /^Config must be an object/u }]],
    [
      { mcpServers: { a: { command: 'x', args: 's3cret' }, '': { command: 'x' } }, mcpSessionLimit: -5 },
      [
        { path: '$.mcpServers.a.args', message: /^args must be an array/u, value: 's3cret' },
        { path: '$.mcpServers[""]', message: /^Server key must not be empty/u },
        { path: '$.mcpSessionLimit', message: /^mcpSessionLimit must be/u, value: -5 },
      ],
    ],
    [
      { mcpServers: { a: { command: 'x', envFile: '/not/there/.env' } } },
      [{ path: '$.mcpServers.a.envFile', message: /there is no file \/not\/there\/\.env/u }],
    ],
  ];
  for (const [config, errors] of wrong)
    verifies(
      ['AGG-CFG-2', 'AGG-CFG-3'],
      `createGateway reports all mistakes of ${JSON.stringify(config)}`,
      () => {
        const error = refusal(config);
        expect(error.code).toBe('invalid_schema');
        const found = (error.details as { errors: ValidationError[] }).errors;
        expect(found).toHaveLength(errors.length);
        for (const [index, { message, ...rest }] of (errors as { message: RegExp }[]).entries()) {
          expect(found[index]).toMatchObject(rest);
          expect(found[index]?.message).toMatch(message);
        }
        expect(error.message).not.toContain('s3cret');
      },
    );

  verifies(
    ['AGG-CFG-2', 'AGG-API-1'],
    'createGateway adds defaults to a config and does not expand its texts',
    () => {
      const { config } = createGateway({ mcpServers: { a: { command: '$X', args: ['${Y}'] } } });
      expect(config).toEqual({ mcpServers: { a: { command: '$X', args: ['${Y}'], env: {} } } });
    },
  );

  verifies(
    ['AGG-CFG-2', 'HEALTH-3'],
    'a reload with an invalid config rejects and changes nothing',
    async () => {
      await using client = serveInProcess({ echo: fixture('echo') });
      const tools = await client.tools();
      const reloaded = client.gateway.reload({ mcpServers: { a: {} } });
      await expect(reloaded).rejects.toMatchObject({ name: 'ConfigError', code: 'invalid_schema' });
      expect(await client.tools()).toEqual(tools);
    },
  );
});
