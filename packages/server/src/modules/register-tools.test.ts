import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { verifies } from '../../../../tests/verifies.ts';
import { handleToolError } from '../errors/tool-error.ts';
import type { Logger } from '../logger.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import type { ModuleOptions } from './register-tools.ts';
import { registerTools } from './register-tools.ts';
import { defineTool, type ToolModule } from './tool-module.ts';

const info = { name: 'test', version: '1.0.0' };
const eras = ['modern', 'legacy'] as const;

const factoryOf =
  (tools: readonly ToolModule[], options: ModuleOptions = {}): (() => McpServer) =>
  () => {
    const server = new McpServer(info);
    registerTools(server, tools, {}, options);
    return server;
  };

function tool(parts: Partial<ToolModule> = {}): ToolModule {
  return { name: 'a', description: 'A tool', inputSchema: z.object({}), handler: () => 'done', ...parts };
}

const add = defineTool({
  name: 'add',
  title: 'Add',
  description: 'Adds numbers',
  annotations: { readOnlyHint: true },
  icons: [{ src: 'https://example.com/add.png' }],
  _meta: { 'example.com/cost': 1 },
  inputSchema: z.object({ a: z.coerce.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number(), unit: z.string().default('pieces') }),
  handler: ({ a, b }) => ({ sum: a + b }),
});

describe.each(eras)('tools in the %s era', (era) => {
  verifies(
    ['KIT-MODULE-1', 'KIT-RESP-1'],
    `a structured value becomes text and structured content, with defaults (${era})`,
    async () => {
      await using client = await connectInMemory(factoryOf([add]), { era, tools: [add] });
      const { content, structuredContent } = await client.callTool('add', { a: '2' });
      expect(structuredContent).toEqual({ sum: 3, unit: 'pieces' });
      expect(content).toEqual([{ type: 'text', text: '{"sum":3,"unit":"pieces"}' }]);
    },
  );

  test('a whole result keeps its own content, and gets what is missing', async () => {
    const tools = [
      tool({
        name: 'whole',
        outputSchema: z.object({ n: z.number() }),
        handler: () => ({ structuredContent: { n: 1 }, content: [{ type: 'text', text: 'one' }] }),
      }),
      tool({
        name: 'part',
        outputSchema: z.object({ n: z.number() }),
        handler: () => ({ structuredContent: { n: 2 }, _meta: { x: 1 } }),
      }),
    ];
    await using client = await connectInMemory(factoryOf(tools), { era });
    expect(await client.callTool('whole')).toMatchObject({ text: 'one', structuredContent: { n: 1 } });
    expect(await client.callTool('part')).toMatchObject({ text: '{"n":2}', _meta: { x: 1 } });
  });

  test('a structured value may have a member named content', async () => {
    const tools = [
      tool({ outputSchema: z.object({ content: z.array(z.string()) }), handler: () => ({ content: ['a'] }) }),
    ];
    await using client = await connectInMemory(factoryOf(tools), { era });
    expect(await client.callTool('a')).toMatchObject({ structuredContent: { content: ['a'] } });
  });

  test('a list as structured content reaches the client', async () => {
    const tools = [tool({ outputSchema: z.array(z.number()), handler: () => [1, 2] })];
    await using client = await connectInMemory(factoryOf(tools), { era });
    const { structuredContent } = await client.callTool('a');
    expect(structuredContent).toEqual(era === 'modern' ? [1, 2] : { result: [1, 2] });
  });

  test('a union of objects stays an object in both eras', async () => {
    const outputSchema = z.discriminatedUnion('type', [
      z.object({ type: z.literal('success'), n: z.number() }),
      z.object({ type: z.literal('error'), message: z.string() }),
    ]);
    const tools = [tool({ outputSchema, handler: () => ({ type: 'success', n: 1 }) })];
    await using client = await connectInMemory(factoryOf(tools), { era });
    expect((await client.callTool('a')).structuredContent).toEqual({ type: 'success', n: 1 });
  });

  test('members that the output schema does not name are left out', async () => {
    const outputSchema = z.object({ id: z.string() });
    const tools = [tool({ outputSchema, handler: () => ({ id: '1', password: 'canary' }) })];
    await using client = await connectInMemory(factoryOf(tools), { era });
    const answer = await client.callTool('a');
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(answer.structuredContent).toEqual({ id: '1' });
  });

  test('a text is the content of a tool without an output schema', async () => {
    await using client = await connectInMemory(factoryOf([tool({ handler: async () => 'hello' })]), { era });
    expect(await client.callTool('a')).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
  });

  test('a tool that returns nothing is an error that names the remedy', async () => {
    await using client = await connectInMemory(factoryOf([tool({ handler: () => undefined })]), { era });
    const answer = await client.callTool('a');
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("The handler of tool 'a' returned undefined: return a text");
  });

  verifies('KIT-MODULE-1', `bad arguments become a result that names field and reason (${era})`, async () => {
    const inputSchema = z.object({
      to: z.array(z.object({ email: z.email() })),
      limit: z.number().max(5).optional(),
    });
    await using client = await connectInMemory(factoryOf([tool({ inputSchema })]), { era });
    const answer = await client.callTool('a', { to: [{ email: 'secret-value' }], limit: 9 });
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(
      /^Invalid arguments for tool 'a': to\[0\]\.email: Invalid email.*; limit: Too big/,
    );
    expect(answer.text).not.toContain('secret-value');
    expect(answer.structuredContent).toMatchObject({ type: 'error', code: 'INVALID_REQUEST' });
  });

  test('an unknown tool is a protocol error with the code -32602', async () => {
    await using client = await connectInMemory(factoryOf([tool()]), { era });
    await expect(client.callTool('b')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("'b'") as unknown,
    });
  });

  verifies(
    'KIT-ERR-1',
    `a protocol error of a handler reaches the client with its code (${era})`,
    async () => {
      const handler = (): never => {
        throw new ProtocolError(-31999, 'Not today', { when: 'tomorrow' });
      };
      await using client = await connectInMemory(factoryOf([tool({ handler })]), { era });
      await expect(client.callTool('a')).rejects.toMatchObject({ code: -31999, data: { when: 'tomorrow' } });
    },
  );

  verifies('KIT-ERR-1', `any other error becomes a result without stack and path (${era})`, async () => {
    const logger = loggerOf();
    const handler = (): never => {
      throw Object.assign(new Error('No file /home/me/canary.txt'), { code: 'ENOENT' });
    };
    await using client = await connectInMemory(factoryOf([tool({ handler })], { logger }), { era });
    const answer = await client.callTool('a');
    expect(answer).toMatchObject({ isError: true, structuredContent: { type: 'error', code: 'NOT_FOUND' } });
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining('canary.txt'));
  });

  test('an output that breaks its schema is an error, whose value only the handler knows', async () => {
    const logger = loggerOf();
    const outputSchema = z.object({ sum: z.number() });
    const tools = [tool({ outputSchema, handler: () => ({ sum: 'canary' }) })];
    await using client = await connectInMemory(factoryOf(tools, { logger }), { era });
    const answer = await client.callTool('a');
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain("The result of tool 'a' does not match its output schema");
    expect(JSON.stringify([answer, logger.error.mock.calls])).not.toContain('canary');
    expect(logger.error).toHaveBeenCalledWith(expect.stringContaining('sum: Invalid input: expected number'));
  });

  test.each<[string, unknown, string]>([
    ['an item without its text', { content: [{ type: 'text' }] }, 'content[0]: text: '],
    ['a symbol for a text', { content: [{ type: 'text', text: Symbol('x') }] }, 'content[0]: text: '],
    ['an unknown type', { content: [{ type: 'text', text: '' }, { type: 'nope' }] }, 'content[1]: type: '],
    ['an image that is not base64', { content: [{ type: 'image', mimeType: 'a/b', data: 'ä' }] }, 'data: '],
    ['nothing for an item', { content: [null] }, 'content[0]: '],
    ['isError as a text', { content: [], isError: 'yes' }, 'isError: neither true nor false'],
    ['a list for _meta', { content: [], _meta: [] }, '_meta: not an object'],
    ['an error with an unknown type', { content: [{ type: 'nope' }], isError: true }, 'content[0]: type: '],
    ['content that is no list', { content: 7, structuredContent: {} }, 'content: not a list'],
  ])(
    'a result with %s is a fault of the server, whose reason the log has',
    async (_fault, result, reason) => {
      const logger = loggerOf();
      const outputSchema = 'structuredContent' in Object(result) ? { outputSchema: z.object({}) } : {};
      const tools = [tool({ ...outputSchema, handler: () => result })];
      await using client = await connectInMemory(factoryOf(tools, { logger }), { era });
      const answer = await client.callTool('a');
      expect(answer).toMatchObject({ isError: true, structuredContent: { code: 'SERVICE_ERROR' } });
      expect(answer.text).toMatch(
        /^Error: The result of tool 'a' does not fit the protocol \(error id: \w+\)$/,
      );
      expect(logger.error).toHaveBeenCalledWith(expect.stringContaining(reason));
    },
  );

  test('items of all types reach the client', async () => {
    const content = [
      { type: 'text', text: 'a', annotations: { audience: ['user'], priority: 0.5 } },
      { type: 'image', data: 'AAA=', mimeType: 'image/png' },
      { type: 'audio', data: 'AAA=', mimeType: 'audio/wav', _meta: { 'example.com/a': 1 } },
      { type: 'resource_link', uri: 'a://b', name: 'b' },
      { type: 'resource', resource: { uri: 'a://b', text: 'b' } },
      { type: 'resource', resource: { uri: 'a://b', blob: 'AAA=' } },
    ];
    const tools = [tool({ handler: () => ({ content }) })];
    await using client = await connectInMemory(factoryOf(tools), { era });
    expect((await client.callTool('a')).content).toEqual(content);
  });

  test('an unknown name is quoted up to 200 characters', async () => {
    await using client = await connectInMemory(factoryOf([tool()]), { era });
    const message = expect.stringMatching(/Tool 'x{200}…' not found$/) as unknown;
    await expect(client.callTool('x'.repeat(60_000))).rejects.toMatchObject({ code: -32602, message });
  });

  test('a handler asks the user and goes on with the answer', async () => {
    const schema = z.object({ ok: z.boolean() });
    const handler: ToolModule['handler'] = (_args, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'sure', schema);
      if (answer !== undefined) return answer.ok ? 'deleted' : 'kept';
      const sure = inputRequired.elicit({ message: 'Sure?', requestedSchema: schema });
      return inputRequired({ inputRequests: { sure } });
    };
    await using client = await connectInMemory(factoryOf([tool({ handler })]), {
      era,
      onElicitation: () => ({ action: 'accept', content: { ok: true } }),
    });
    expect((await client.callTool('a')).text).toBe('deleted');
  });

  test('a list has all members of a tool in the order of names', async () => {
    await using client = await connectInMemory(factoryOf([tool({ name: 'b' }), add, tool({ name: 'B' })]), {
      era,
    });
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['B', 'add', 'b']);
    expect(tools[1]).toMatchObject({
      title: 'Add',
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://example.com/add.png' }],
      _meta: { 'example.com/cost': 1 },
      inputSchema: { type: 'object', properties: { b: { default: 1 } } },
      outputSchema: { type: 'object', required: ['sum', 'unit'] },
    });
  });
});

describe('arguments of a tool', () => {
  const inputSchema = z.object({
    filter: z.object({ tag: z.string() }).optional(),
    ids: z.array(z.number()).optional(),
    text: z.string().optional(),
  });
  const echo = tool({ inputSchema, handler: (args) => JSON.stringify(args) });

  test('an object that a model sent as JSON text is parsed', async () => {
    await using client = await connectInMemory(factoryOf([echo]));
    const args = { filter: '{"tag":"x"}', ids: '[1,2]', text: '{"stays":"text"}' };
    expect(JSON.parse((await client.callTool('a', args)).text)).toEqual({
      filter: { tag: 'x' },
      ids: [1, 2],
      text: '{"stays":"text"}',
    });
  });

  test('a text that holds a wrong object is refused as it was sent', async () => {
    await using client = await connectInMemory(factoryOf([echo]));
    const answer = await client.callTool('a', { filter: '{"tag":1}' });
    expect(answer.text).toContain('filter: Invalid input: expected object, received string');
  });

  test('a union names the reason of the branch that came closest', async () => {
    const by = z.union([z.object({ id: z.number() }), z.object({ first: z.string(), last: z.string() })]);
    const choice = tool({ inputSchema: z.object({ by }) });
    await using client = await connectInMemory(factoryOf([choice]));
    const { text } = await client.callTool('a', { by: { id: 'one' } });
    expect(text).toContain('by.id: Invalid input: expected number, received string');
  });

  test('asynchronous schemas are waited for', async () => {
    const slow = z.object({ n: z.number().refine(async (n) => n > 1, 'too few') });
    await using client = await connectInMemory(factoryOf([tool({ inputSchema: slow })]));
    expect((await client.callTool('a', { n: 1 })).text).toContain('n: too few');
    expect((await client.callTool('a', { n: 2 })).text).toBe('done');
  });
});

describe('other kinds of schemas', () => {
  test('a schema in JSON serves as well as one of zod', async () => {
    const inputSchema = fromJsonSchema<{ n: number }>({
      type: 'object',
      properties: { n: { $ref: '#/$defs/count' } },
      required: ['n'],
      $defs: { count: { type: 'integer' } },
    });
    const double = defineTool({
      name: 'double',
      description: 'Doubles',
      inputSchema,
      handler: ({ n }) => String(n * 2),
    });
    await using client = await connectInMemory(factoryOf([double]), { tools: [double] });
    expect((await client.callTool('double', { n: 2 })).text).toBe('4');
    expect(await client.callTool('double', { n: 1.5 })).toMatchObject({ isError: true });
    expect((await client.listTools())[0]?.inputSchema).toMatchObject({
      $defs: { count: { type: 'integer' } },
    });
  });

  test('a header that disagrees with its argument is refused', async () => {
    const inputSchema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) });
    const factory = factoryOf([tool({ inputSchema })]);
    await using client = await connectInMemory(factory);
    expect((await client.callTool('a', { region: 'north' })).text).toBe('done');
    const response = await createMcpHandler(factory).fetch(
      modernCall('a', { region: 'north' }, { region: 'south' }),
    );
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: -32020 } }]);
  });
});

function modernCall(name: string, args: object, { region }: { region: string }): Request {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name, arguments: args, _meta };
  return new Request('http://in-memory.invalid/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      'mcp-param-region': region,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
}

describe('registration of tools', () => {
  test.each(['', 'a b', 'a:b', 'ä', 'x'.repeat(129)])('the name %j is refused', (name) => {
    expect(() => factoryOf([tool(), tool({ name })])()).toThrow(/^The name of tool 2 is .*use 1 to 128/);
  });

  test('a name of 128 characters is accepted', () => {
    expect(() => factoryOf([tool({ name: 'Az0_.-'.padEnd(128, 'x') })])()).not.toThrow();
  });

  test('two tools with one name are refused with both', () => {
    const tools = [tool(), tool({ name: 'b' }), tool({ description: 'Another' })];
    expect(factoryOf(tools)).toThrow('tool 1 ("a": "A tool") and tool 3 ("a": "Another")');
  });

  test('a second registration on one server is refused', () => {
    const server = factoryOf([tool()])();
    expect(() => registerTools(server, [tool()])).toThrow('This server already answers tools/list');
  });

  test('a server with tools of its own is refused', () => {
    const server = new McpServer(info);
    server.registerTool('own', {}, () => ({ content: [] }));
    expect(() => registerTools(server, [tool()])).toThrow('do not mix modules with');
  });

  test('the given array stays as it is, and a changed one is read anew', async () => {
    const tools = [tool({ name: 'b' }), tool({ name: 'a' })];
    factoryOf(tools)();
    expect(tools.map(({ name }) => name)).toEqual(['b', 'a']);
    tools.push(tool({ name: 'c' }));
    await using client = await connectInMemory(factoryOf(tools));
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  test.each(eras)('a low-level server takes modules in the %s era', async (era) => {
    const factory = (): Server => {
      const server = new Server(info);
      registerTools(server, [add]);
      return server;
    };
    await using client = await connectInMemory(factory, { era });
    expect((await client.callTool('add', { a: 1, b: 1 })).structuredContent).toMatchObject({ sum: 2 });
  });

  test('handlers get the context of the registration', async () => {
    const greet = defineTool({
      name: 'greet',
      description: 'Greets',
      inputSchema: z.object({ who: z.string() }),
      handler: ({ who }, extra, { greeting }: { greeting: string }) =>
        `${greeting}, ${who} (${extra.mcpReq.method})`,
    });
    await using client = await connectInMemory(() => {
      const server = new McpServer(info);
      registerTools(server, [greet], { greeting: 'Hello' });
      // @ts-expect-error a tool needs a greeting
      expect(() => registerTools(server, [greet])).toThrow();
      // @ts-expect-error the greeting is a text
      expect(() => registerTools(server, [greet], { greeting: 1 })).toThrow();
      return server;
    });
    expect((await client.callTool('greet', { who: 'Ann' })).text).toBe('Hello, Ann (tools/call)');
  });

  test('listChanged is declared only where it is asked for', async () => {
    await using still = await connectInMemory(factoryOf([tool()]));
    expect(still.client.getServerCapabilities()?.tools).toEqual({});
    await using lively = await connectInMemory(factoryOf([tool()], { listChanged: true }));
    expect(lively.client.getServerCapabilities()?.tools).toEqual({ listChanged: true });
  });

  test('the cache hints of the server reach clients of the modern era', async () => {
    const cacheHints = { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } } as const;
    await using client = await connectInMemory(() => {
      const server = new McpServer(info, { cacheHints });
      registerTools(server, [add]);
      return server;
    });
    expect(await client.client.listTools()).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
  });

  test('a tool whose schema has no JSON Schema is named in the error of the list', async () => {
    const outputSchema = z.object({ at: z.date() });
    await using client = await connectInMemory(factoryOf([tool(), tool({ name: 'dated', outputSchema })]));
    await expect(client.listTools()).rejects.toThrow("Tool 'dated' cannot be listed: its outputSchema");
  });

  test('the result of handleToolError may be returned by a tool with an output schema', async () => {
    const careful = tool({
      outputSchema: z.object({ n: z.number() }),
      handler: () => handleToolError(new Error('Too late')),
    });
    await using client = await connectInMemory(factoryOf([careful]));
    expect(await client.callTool('a')).toMatchObject({ isError: true, text: 'Error: Too late' });
  });

  test('the legacy era gets no structured error that the output schema refuses', async () => {
    const strict = tool({
      outputSchema: z.object({ n: z.number() }),
      handler: () => {
        throw new Error('Too late');
      },
    });
    const withBranch = tool({
      name: 'branch',
      outputSchema: z.object({ type: z.literal('error'), message: z.string() }),
      handler: () => {
        throw new Error('Too late');
      },
    });
    await using client = await connectInMemory(factoryOf([strict, withBranch]), { era: 'legacy' });
    expect(await client.callTool('a')).not.toHaveProperty('structuredContent');
    expect(await client.callTool('branch')).toMatchObject({ structuredContent: { message: 'Too late' } });
  });
});

describe('the cost of registration', () => {
  test('schemas are converted once, at the first list, and only arguments of the called tool are parsed', async () => {
    const schema = z.object({ n: z.number().default(1) });
    const other = z.object({ n: z.number() });
    const converted = vi.spyOn(schema['~standard'].jsonSchema, 'input');
    const parsed = vi.spyOn(other['~standard'], 'validate');
    const tools = [tool({ inputSchema: schema }), tool({ name: 'b', inputSchema: other })];
    const server = factoryOf(tools)();
    expect(converted).not.toHaveBeenCalled();
    await using client = await connectInMemory(factoryOf(tools.map((each) => ({ ...each }))));
    await client.callTool('a');
    await client.client.listTools({}, { cacheMode: 'bypass' });
    expect(server.toolInputSchemaJson('a')).toMatchObject({ properties: { n: { default: 1 } } });
    expect(server.toolInputSchemaJson('none')).toBeUndefined();
    expect(converted).toHaveBeenCalledTimes(1);
    expect(parsed).not.toHaveBeenCalled();
  });
});

function loggerOf(): { [Level in keyof Logger]: ReturnType<typeof vi.fn<Logger[Level]>> } {
  return { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
}
