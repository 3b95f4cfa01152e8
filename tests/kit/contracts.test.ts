// The contracts of @weir/server, as the design of its blocks types them. `tsc` compares them with ours, in the direction in
// which users need them; the tests call what can be called at once.
import type { Server as HttpServer } from 'node:http';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import {
  type AuthAdapter,
  buildAuthResponse,
  type CachedToken,
  columns,
  createFileServingRouter,
  createHttpError,
  createHttpMcpRouter,
  createOAuthAdapters,
  defineTool,
  type ErrorBranch,
  type FileInfo,
  type FileMetadata,
  type FileServingConfig,
  handleToolError,
  isEmpty,
  item,
  items,
  type Logger,
  nextPageToken,
  type OAuthAdapters,
  type OAuthFactoryConfig,
  type OutputSchemaLike,
  parseConfig,
  type ParsedRedirectUrl,
  type ParsedTransportConfig,
  type PromptModule,
  range,
  registerPrompts,
  registerResources,
  registerTools,
  type ResourceModule,
  rows,
  select,
  type ServerConfig,
  setupHttpServer,
  type SetupHttpServerOptions,
  setupStdioServer,
  type SetupStdioServerOptions,
  setupStdioTransport,
  shape,
  toErrorBranch,
  type ToolContext,
  type ToolExtra,
  type ToolHandler,
  type ToolModule,
  type TransportConfig,
  values,
} from '@weir/server';
import { connectInMemory } from '@weir/server/testing';
import type { Express } from 'express';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { verifies } from '../verifies.ts';

type SeedTransportConfig = { type: 'stdio' } | { type: 'http'; port: number };

interface SeedParsedTransportConfig {
  transport: SeedTransportConfig;
  headless: boolean;
  logLevel?: string;
  redirectUri?: string;
  redirectUrl?: ParsedRedirectUrl;
  port?: number;
}

interface SeedSetupStdioServerOptions {
  serverFactory: () => McpServer;
  logger: Logger;
}

interface SeedSetupHttpServerOptions {
  serverFactory: () => McpServer;
  logger: Logger;
  app: Express;
  port: number;
}

/** The part of Keyv 5 that is used: token-store.test.ts of the package takes a real one. */
interface Keyv<Value> {
  get(key: string): Promise<Value | undefined>;
  set(key: string, value: Value, ttl?: number): Promise<boolean>;
  delete(key: string): Promise<boolean>;
}

interface SeedOAuthFactoryConfig {
  provider: 'google' | 'microsoft';
  service: string;
  clientId: string;
  clientSecret?: string;
  scope: string;
  headless: boolean;
  tokenStore: Keyv<CachedToken>;
  logger: Logger;
  tenant?: string;
}

interface SeedServerConfig {
  transport: SeedTransportConfig;
  auth?: 'loopback-oauth';
}

interface SeedToolModule<In = unknown, Ctx = ToolContext> {
  name: string;
  description: string;
  inputSchema: z.ZodType<In>;
  outputSchema?: OutputSchemaLike;
  // Ruling: a method, so that modules of different types fit into one array.
  handler(args: In, extra: ToolExtra, context: Ctx): Promise<CallToolResult>;
}

interface SeedFileServingConfig {
  routePrefix: string;
  resourceStoreUri: string;
  getMetadata?: (fileId: string) => Promise<FileMetadata | null>;
  getAllFiles?: () => Promise<FileInfo[]>;
}

/** Compiles a function without running it. */
function compiles(_body: () => unknown): void {
  expect(_body).toBeTypeOf('function');
}

describe('config', () => {
  verifies(['KIT-CFG-1', 'KIT-SCOPE-1'], 'parseConfig reads as the design types it', () => {
    const config: SeedParsedTransportConfig = parseConfig(['--port', '3000'], process.env);
    expect(config.port).toBe(3000);
    expectTypeOf(parseConfig).toBeCallableWith(process.argv.slice(2), process.env);
    expectTypeOf<ParsedTransportConfig>().toExtend<SeedParsedTransportConfig>();
    // A program may make one of the documented members alone.
    expectTypeOf<SeedParsedTransportConfig>().toExtend<ParsedTransportConfig>();
    expectTypeOf<TransportConfig>().toExtend<SeedTransportConfig>();
    // Ruling: the branch of http has a host, too.
    expectTypeOf<Extract<TransportConfig, { type: 'http' }>>().toEqualTypeOf<{
      type: 'http';
      port: number;
      host?: string;
    }>();
    expectTypeOf<ParsedRedirectUrl>().toEqualTypeOf<{
      href: string;
      protocol: string;
      hostname: string;
      port: number;
      pathname: string;
    }>();
    // @ts-expect-error Arguments and environment are passed in, never read behind the caller's back.
    compiles(() => parseConfig());
  });

  verifies('KIT-SCOPE-1', 'the type of a transport decides that it has a port', () => {
    const { transport } = parseConfig([], { PORT: '3000' });
    // @ts-expect-error Only the branch of http has a port.
    compiles(() => transport.port);
    if (transport.type === 'http') expectTypeOf(transport.port).toEqualTypeOf<number>();
    expect(transport).toEqual({ type: 'http', port: 3000 });
  });

  verifies('KIT-SCOPE-1', 'ServerConfig is the transport and the auth that the application decides', () => {
    expectTypeOf<SeedServerConfig>().toExtend<ServerConfig>();
    expectTypeOf<ServerConfig>().toExtend<SeedServerConfig>();
    const config: ServerConfig = { transport: { type: 'stdio' } };
    expect(config.auth).toBeUndefined();
  });
});

describe('transport', () => {
  verifies(['KIT-TRANSPORT-1', 'KIT-SCOPE-1'], 'options as the design types them set servers up', () => {
    expectTypeOf<SeedSetupStdioServerOptions>().toExtend<SetupStdioServerOptions>();
    expectTypeOf<SeedSetupHttpServerOptions>().toExtend<SetupHttpServerOptions>();
    expectTypeOf(setupStdioServer).returns.toEqualTypeOf<Promise<void>>();
    // Ruling: a handle with the server in it, so that there is one `close` for all.
    expectTypeOf(setupHttpServer).returns.resolves.toExtend<{
      httpServer: HttpServer;
      url: string;
      close(): Promise<void>;
    }>();
    expectTypeOf(setupStdioTransport).toBeCallableWith({} as McpServer);
    expectTypeOf(setupStdioTransport).returns.toExtend<{ close(): Promise<void> }>();
    // Ruling: app and logger are optional.
    expectTypeOf<{ serverFactory: () => McpServer; port: number }>().toExtend<SetupHttpServerOptions>();
    // @ts-expect-error HTTP needs a port.
    compiles(() => setupHttpServer({ serverFactory: () => ({}) as McpServer }));
  });

  verifies(
    ['KIT-TRANSPORT-1', 'KIT-SCOPE-1'],
    'the router of MCP mounts on an application of Express',
    () => {
      compiles((): unknown => {
        const router = createHttpMcpRouter({ mcpServer: () => ({}) as McpServer, logger: console });
        return ({} as Express).use('/mcp', router);
      });
      // @ts-expect-error Ruling: a factory, because clients must not share a server.
      compiles(() => createHttpMcpRouter({ mcpServer: {} as McpServer }));
    },
  );

  test('console is a logger', () => {
    const logger: Logger = console;
    expect(logger).toBe(console);
  });
});

describe('oauth', () => {
  verifies(
    ['KIT-OAUTH-1', 'KIT-SCOPE-1'],
    'a config as the design types it makes the loopback adapter',
    () => {
      expectTypeOf<SeedOAuthFactoryConfig>().toExtend<OAuthFactoryConfig>();
      expectTypeOf(createOAuthAdapters).returns.resolves.toExtend<OAuthAdapters>();
      expectTypeOf<OAuthAdapters>().toExtend<{ loopback: AuthAdapter }>();
      expectTypeOf<AuthAdapter['getAccessToken']>().returns.resolves.toEqualTypeOf<string>();
      expectTypeOf<AuthAdapter['accounts']>().returns.resolves.toEqualTypeOf<string[]>();
      expectTypeOf<{
        accessToken: string;
        refreshToken?: string;
        expiresAt?: number;
        scope?: string;
      }>().toExtend<CachedToken>();
      // @ts-expect-error Providers are google, microsoft and oidc.
      compiles((): OAuthFactoryConfig['provider'] => 'github');
    },
  );
});

describe('errors', () => {
  verifies(['KIT-ERR-1', 'KIT-SCOPE-1'], 'the functions of errors read as the design types them', () => {
    const handle: (error: unknown, logger: Logger) => CallToolResult = handleToolError;
    const branch: (error: unknown, customHandler?: (error: Error) => ErrorBranch) => ErrorBranch =
      toErrorBranch;
    expectTypeOf<{ type: 'error'; message: string; code?: string }>().toEqualTypeOf<ErrorBranch>();
    expect(handle(createHttpError(404), { ...console, error: () => undefined }).isError).toBe(true);
    expect(branch(createHttpError(404), () => ({ type: 'error', message: 'gone' })).message).toBe('gone');
  });

  test.each([
    [400, 'INVALID_REQUEST'],
    [401, 'AUTHENTICATION_REQUIRED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [429, 'RATE_LIMITED'],
    [500, 'SERVICE_ERROR'],
    [503, 'SERVICE_ERROR'],
  ])('the status %i has the code %s', (status, code) => {
    expect(createHttpError(status).code).toBe(code);
  });
});

describe('results', () => {
  verifies(['KIT-RESP-1', 'KIT-SCOPE-1'], 'buildAuthResponse builds the documented response', () => {
    const build: (message: string, authUrl: string) => CallToolResult = buildAuthResponse;
    const [message, authUrl] = ['Sign in first', 'https://issuer.example/authorize'];
    expect(build(message, authUrl)).toEqual({
      content: [{ type: 'text', text: message }],
      structuredContent: { type: 'auth_required', authUrl, message },
    });
  });

  verifies('KIT-MODULE-1', 'schema builders have the documented properties', () => {
    const cell = z.union([z.string(), z.number()]);
    type Cell = string | number;
    interface Message {
      id: string;
    }
    const message = z.object({ id: z.string() });
    expectTypeOf(items(message)._output).toEqualTypeOf<{
      type: 'success';
      items: Message[];
      nextPageToken?: string | undefined;
    }>();
    expectTypeOf(item(message)._output).toEqualTypeOf<{ type: 'success'; item: Message }>();
    expectTypeOf(columns()._output).toEqualTypeOf<{ type: 'success'; columns: string[]; isEmpty: boolean }>();
    expectTypeOf(rows(cell)._output).toExtend<{
      type: 'success';
      range?: string | undefined;
      rows: Cell[][];
    }>();
    expectTypeOf(values(message, cell)._output).toExtend<
      | { select: 'cells'; values: Message[] }
      | { select: 'rows'; values: Cell[][] }
      | { select: 'columns'; values: Cell[][] }
    >();
    expectTypeOf(shape(message, cell)._output).toExtend<
      { shape: 'objects'; items: Message[] } | { shape: 'arrays'; columns: string[]; rows: Cell[][] }
    >();
    expectTypeOf(select()._output).toEqualTypeOf<'cells' | 'rows' | 'columns'>();
    expectTypeOf(range()._output).toEqualTypeOf<string>();
    expectTypeOf(nextPageToken()._output).toEqualTypeOf<string | undefined>();
    expectTypeOf(isEmpty()._output).toEqualTypeOf<boolean>();
    expect(Object.keys(items(message).shape)).toEqual(['type', 'items', 'nextPageToken']);
    expect(Object.keys(columns().shape)).toEqual(['type', 'columns', 'isEmpty']);
  });
});

describe('modules', () => {
  const echo = defineTool({
    name: 'echo',
    description: 'Says it again.',
    inputSchema: z.object({ text: z.string() }),
    handler: ({ text }) => text,
  });

  verifies(['KIT-MODULE-1', 'KIT-SCOPE-1'], 'a tool as the design types it is a ToolModule', () => {
    expectTypeOf<SeedToolModule<{ text: string }>>().toExtend<ToolModule>();
    expectTypeOf<ToolContext>().toEqualTypeOf<object>();
    expectTypeOf<z.ZodType>().toExtend<OutputSchemaLike>();
    const handler: ToolHandler<{ text: string }, string> = ({ text }) => text;
    const typed: ToolModule<{ text: string }, string> = {
      name: 'typed',
      description: 'A tool that is typed by hand.',
      inputSchema: z.object({ text: z.string() }),
      handler,
    };
    const tools: ToolModule[] = [echo, typed];
    expect(tools).toHaveLength(2);
  });

  verifies(
    'KIT-MODULE-1',
    'tools with the documented names answer with the documented properties',
    async () => {
      const inputSchema = z.object({});
      const description = 'A tool of the design.';
      const [thing, cell] = [z.object({ id: z.string() }), z.string()];
      const search = (name: string): ToolModule =>
        defineTool({
          name,
          description,
          inputSchema,
          outputSchema: items(thing),
          handler: () => ({ type: 'success', items: [] }),
        });
      const get = (name: string): ToolModule =>
        defineTool({
          name,
          description,
          inputSchema,
          outputSchema: item(thing),
          handler: () => ({ type: 'success', item: { id: '1' } }),
        });
      const head = (name: string): ToolModule =>
        defineTool({
          name,
          description,
          inputSchema,
          outputSchema: columns(),
          handler: () => ({ type: 'success', columns: ['id'], isEmpty: false }),
        });
      const table = (name: string): ToolModule =>
        defineTool({
          name,
          description,
          inputSchema,
          outputSchema: rows(cell),
          handler: () => ({ type: 'success', rows: [['1']] }),
        });
      const tools = [
        ...['message-search', 'files-search'].map((name) => search(name)),
        ...['message-get', 'file-get'].map((name) => get(name)),
        ...['columns-get', 'csv-get-columns'].map((name) => head(name)),
        ...['rows-get', 'rows-append'].map((name) => table(name)),
      ];
      await using client = await connectInMemory(() => {
        const server = new McpServer({ name: 'names', version: '1.0.0' });
        registerTools(server, tools);
        return server;
      });
      const properties: Record<string, string[]> = {};
      for (const { name } of await client.listTools()) {
        const { structuredContent } = await client.callTool(name);
        properties[name] = Object.keys(structuredContent as object);
      }
      expect(properties).toEqual({
        'message-search': ['type', 'items'],
        'files-search': ['type', 'items'],
        'message-get': ['type', 'item'],
        'file-get': ['type', 'item'],
        'columns-get': ['type', 'columns', 'isEmpty'],
        'csv-get-columns': ['type', 'columns', 'isEmpty'],
        'rows-get': ['type', 'rows'],
        'rows-append': ['type', 'rows'],
      });
    },
  );

  verifies('KIT-MODULE-1', 'a wrong handler does not compile', () => {
    const [inputSchema, outputSchema] = [z.object({ id: z.string() }), item(z.object({ size: z.number() }))];
    const parts = { name: 'file-get', description: 'Gets a file.', inputSchema, outputSchema };
    const right = defineTool({ ...parts, handler: () => ({ type: 'success', item: { size: 1 } }) });
    // @ts-expect-error A text is no size.
    defineTool({ ...parts, handler: () => ({ type: 'success', item: { size: 'large' } }) });
    // @ts-expect-error The item is missing.
    defineTool({ ...parts, handler: () => ({ type: 'success' }) });
    // @ts-expect-error The schema of the arguments has a text.
    defineTool({ ...parts, handler: ({ id }: { id: number }) => ({ type: 'success', item: { size: id } }) });
    // @ts-expect-error A tool without output schema returns a text or a result.
    defineTool({ name: 'file-count', description: 'Counts files.', inputSchema, handler: () => 7 });
    expect(right.name).toBe('file-get');
  });

  verifies(['KIT-MODULE-1', 'KIT-SCOPE-1'], 'resources and prompts are modules of the same design', () => {
    const resource: ResourceModule = {
      name: 'note',
      description: 'A note.',
      uri: 'notes://1',
      mimeType: 'text/plain',
      handler: () => 'text',
    };
    const prompt: PromptModule = { name: 'ask', description: 'Asks.', handler: () => 'Why?' };
    compiles(() => {
      const server = {} as McpServer;
      registerTools(server, [echo], { any: 'context' });
      registerResources(server, [resource]);
      registerPrompts(server, [prompt]);
    });
    expectTypeOf(resource.handler).parameter(0).toHaveProperty('uri');
    expectTypeOf(prompt.handler).parameter(1).toEqualTypeOf<ToolExtra>();
  });
});

describe('files', () => {
  verifies(
    ['KIT-FILES-1', 'KIT-SCOPE-1'],
    'a config as the design types it makes a router of Express',
    () => {
      expectTypeOf<SeedFileServingConfig>().toExtend<FileServingConfig>();
      expectTypeOf<{ filename: string; contentType?: string; size?: number }>().toExtend<FileMetadata>();
      expectTypeOf<FileInfo>().toHaveProperty('uri').toEqualTypeOf<string>();
      expectTypeOf<FileInfo>().toHaveProperty('size').toEqualTypeOf<number>();
      compiles((): unknown => {
        const config: SeedFileServingConfig = {
          routePrefix: '/exports',
          resourceStoreUri: 'file:///exports',
        };
        return ({} as Express).use(config.routePrefix, createFileServingRouter(config));
      });
    },
  );
});
