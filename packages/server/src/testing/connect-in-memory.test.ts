import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, registerTools } from '../modules.ts';
import { connectInMemory } from './connect-in-memory.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  handler: ({ a, b }) => ({ sum: a + b }),
});
const ping = defineTool({
  name: 'ping',
  description: 'Pings',
  inputSchema: z.object({}),
  handler: () => 'pong',
});
const tools = [add, ping] as const;

const factory = (): McpServer => {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  registerTools(server, tools);
  return server;
};

describe('a client in memory', () => {
  test('callTool is typed by the tools', async () => {
    await using client = await connectInMemory(factory, { tools });
    const answer = await client.callTool('add', { a: 2 });
    if (answer.isError === true) throw new Error(answer.text);
    expectTypeOf(answer.structuredContent).toEqualTypeOf<{ sum: number }>();
    expect(answer.structuredContent.sum).toBe(3);
    expect((await client.callTool('ping')).text).toBe('pong');
    // @ts-expect-error an argument is missing
    expect((await client.callTool('add')).isError).toBe(true);
    // @ts-expect-error the argument is a number
    expect((await client.callTool('add', { a: 'two' })).isError).toBe(true);
    // @ts-expect-error the tool does not exist
    await expect(client.callTool('subtract', {})).rejects.toThrow("'subtract' not found");
  });

  test('the modern era makes a server for each request, the legacy era one', async () => {
    const eras = vi.fn();
    for (const era of ['modern', 'legacy'] as const) {
      eras.mockClear();
      await using client = await connectInMemory(
        (context) => {
          eras(context.era);
          return factory();
        },
        { era },
      );
      await client.callTool('ping');
      await client.callTool('ping');
      expect(client.client.getProtocolEra()).toBe(era);
      expect(new Set(eras.mock.calls.flat())).toEqual(new Set([era]));
      expect(eras.mock.calls.length > 1).toBe(era === 'modern');
    }
  });

  test.each(['modern', 'legacy'] as const)('questions to user and model are answered (%s)', async (era) => {
    const ask = defineTool({
      name: 'ask',
      description: 'Asks',
      inputSchema: z.object({}),
      handler: (_args, { mcpReq }) => {
        if (mcpReq.inputResponses !== undefined) return JSON.stringify(mcpReq.inputResponses);
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }];
        return inputRequired({
          inputRequests: { model: inputRequired.createMessage({ messages, maxTokens: 5 }) },
        });
      },
    });
    await using client = await connectInMemory(
      () => {
        const server = new McpServer({ name: 'test', version: '1.0.0' });
        registerTools(server, [ask]);
        return server;
      },
      {
        era,
        onSampling: () => ({ model: 'm', role: 'assistant', content: { type: 'text', text: 'Hello' } }),
      },
    );
    expect((await client.callTool('ask')).text).toContain('Hello');
  });

  test('a closed client answers no more', async () => {
    const client = await connectInMemory(factory);
    await client.callTool('ping');
    await client.close();
    await expect(client.callTool('ping')).rejects.toThrow();
  });

  test('a missing client library is named with the command that installs it', async () => {
    vi.doMock('@modelcontextprotocol/client', () => {
      throw new Error('not installed');
    });
    try {
      await expect(connectInMemory(factory)).rejects.toThrow(
        'npm install --save-dev @modelcontextprotocol/client',
      );
    } finally {
      vi.doUnmock('@modelcontextprotocol/client');
    }
  });

  test('a factory that throws is told to onerror', async () => {
    const onerror = vi.fn();
    const broken = (): never => {
      throw new Error('no database');
    };
    await expect(connectInMemory(broken, { onerror })).rejects.toThrow();
    expect(onerror).toHaveBeenCalledWith(expect.objectContaining({ message: 'no database' }));
    await expect(connectInMemory(broken, { era: 'legacy' })).rejects.toThrow('no database');
  });
});
