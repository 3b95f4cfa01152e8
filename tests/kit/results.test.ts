import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import {
  createMcpHandler,
  InMemoryTransport,
  McpServer,
  type CallToolResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  buildAuthResponse,
  error,
  fillContent,
  item,
  requestAuth,
  resultOf,
  shape,
  success,
} from '@weir/server/results';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { verifies } from '../verifies.ts';

// The judge is the SDK: its server checks results with the zod schema, its client with the JSON Schema that it was sent.

const AUTH_URL = 'https://login.example/authorize?client_id=weir';
const MESSAGE = 'Sign in to read your notes';
const note = z.object({ id: z.string(), title: z.string() });

type Era = 'legacy' | 'modern';
const ERAS: readonly Era[] = ['legacy', 'modern'];

function createServer(calls: string[] = []): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const inputSchema = z.object({ branch: z.enum(['success', 'error', 'auth']).optional() });
  server.registerTool(
    'note-get',
    { inputSchema, outputSchema: resultOf(item(note)) },
    ({ branch }): CallToolResult => {
      if (branch === 'error') return { ...error('No such note', 'NOT_FOUND'), isError: false };
      if (branch === 'auth') return buildAuthResponse(MESSAGE, AUTH_URL);
      return fillContent(success({ item: { id: '1', title: 'Weirs' } }));
    },
  );
  server.registerTool(
    'note-list',
    { inputSchema: z.object({}), outputSchema: resultOf(shape(note, z.string())) },
    () => success({ shape: 'arrays', columns: ['id'], rows: [['1']] }),
  );
  server.registerTool('sign-in', {}, async (extra: ServerContext) => {
    calls.push('sign-in');
    return requestAuth(extra, { message: MESSAGE, authUrl: AUTH_URL });
  });
  return server;
}

/** A client that is connected in one process; the modern era has no connection, so it speaks HTTP without a socket. */
async function connect(era: Era, options: ClientOptions = {}, calls: string[] = []): Promise<Client> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client(
    { name: 'judge', version: '1.0.0' },
    { versionNegotiation: { mode }, ...options },
  );
  if (era === 'modern') {
    await client.connect(overFetch(calls));
    return client;
  }
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await createServer(calls).connect(serverSide);
  await client.connect(clientSide);
  return client;
}

function overFetch(calls: string[]): StreamableHTTPClientTransport {
  const handler = createMcpHandler(() => createServer(calls));
  return new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
}

describe('results of a tool', () => {
  verifies(
    'KIT-RESP-1',
    'a tool answers success, error and login through the checks of server and client',
    async () => {
      for (const era of ERAS) {
        const client = await connect(era);
        // A client checks results only of tools that it has listed.
        const { tools } = await client.listTools();
        for (const tool of tools.filter(({ outputSchema }) => outputSchema !== undefined)) {
          expect(tool.outputSchema).toMatchObject({ type: 'object' });
          expect(tool.outputSchema).not.toHaveProperty('properties.result');
        }
        const call = (branch: string): Promise<CallToolResult> =>
          client.callTool({ name: 'note-get', arguments: { branch } });
        const found = { type: 'success', item: { id: '1', title: 'Weirs' } };
        expect(await call('success')).toMatchObject({
          structuredContent: found,
          content: [{ type: 'text', text: JSON.stringify(found) }],
        });
        expect(await call('error')).toMatchObject({
          structuredContent: { type: 'error', message: 'No such note', code: 'NOT_FOUND' },
          content: [{ type: 'text', text: 'Error: No such note' }],
        });
        const login = await call('auth');
        expect(login).toMatchObject({
          structuredContent: { type: 'auth_required', authUrl: AUTH_URL, message: MESSAGE },
          content: [{ type: 'text', text: MESSAGE }],
        });
        expect(login.isError).toBeUndefined();
        expect(await client.callTool({ name: 'note-list' })).toMatchObject({
          structuredContent: { type: 'success', shape: 'arrays', columns: ['id'], rows: [['1']] },
        });
        await client.close();
      }
    },
  );
});

describe('requestAuth', () => {
  const result = { structuredContent: { type: 'auth_required', authUrl: AUTH_URL, message: MESSAGE } };

  verifies(
    'KIT-RESP-1',
    'a client that can open addresses is asked once, and gets the result if no login follows',
    async () => {
      for (const era of ERAS) {
        for (const action of ['accept', 'decline', 'cancel'] as const) {
          const calls: string[] = [];
          const asked: unknown[] = [];
          const client = await connect(era, { capabilities: { elicitation: { url: {} } } }, calls);
          client.setRequestHandler('elicitation/create', ({ params }) => {
            asked.push(params);
            return { action };
          });
          expect(await client.callTool({ name: 'sign-in' })).toMatchObject(result);
          expect(asked).toHaveLength(1);
          expect(asked[0]).toMatchObject({ mode: 'url', url: AUTH_URL, message: MESSAGE });
          // The modern client calls again with the answer; the legacy one was asked in the middle of the call.
          expect(calls).toHaveLength(era === 'modern' ? 2 : 1);
          await client.close();
        }
      }
    },
  );

  verifies('KIT-RESP-1', 'a client that cannot open addresses gets the result', async () => {
    for (const era of ERAS) {
      for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
        const calls: string[] = [];
        const client = await connect(era, { capabilities }, calls);
        if ('elicitation' in capabilities)
          client.setRequestHandler('elicitation/create', () => {
            throw new Error('asked');
          });
        const answer = await client.callTool({ name: 'sign-in' });
        expect(answer).toMatchObject(result);
        expect(answer.isError).toBeUndefined();
        expect(calls).toHaveLength(1);
        await client.close();
      }
    }
  });

  verifies('KIT-RESP-1', 'a legacy client over HTTP without a session gets the result', async () => {
    const client = new Client(
      { name: 'judge', version: '1.0.0' },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'legacy' } },
    );
    await client.connect(overFetch([]));
    expect(await client.callTool({ name: 'sign-in' })).toMatchObject(result);
    await client.close();
  });
});
