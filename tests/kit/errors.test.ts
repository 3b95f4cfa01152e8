import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, ProtocolError as ClientProtocolError } from '@modelcontextprotocol/client';
import {
  InMemoryTransport,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import { createHttpError, handleToolError } from '@weir/server/errors';
import { describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';

const CANARY = 'c4n4ry';

/** Errors as Node, fetch and libraries really throw them. */
const FAILURES: Record<string, () => unknown> = {
  file: () => readFile(`/home/${CANARY}/missing folder/notes.txt`),
  fetch: () => fetch(`http://user:${CANARY}@127.0.0.1:1/?token=${CANARY}`),
  connection: async () => fetch(`http://127.0.0.1:${await closedPort()}/?code=${CANARY}`),
  timeout: () => {
    throw AbortSignal.timeout(0).reason ?? new DOMException('too late', 'TimeoutError');
  },
  json: (): unknown => JSON.parse(`{"access_token": "${CANARY}`),
  module: () => import(String(`/opt/${CANARY}/missing.js`)),
  http: () => {
    throw createHttpError(401, `Bearer ${CANARY} has expired`);
  },
  url: () => new URL(`not a url with sk-${CANARY}${CANARY}`),
};
const PROTOCOL: Record<string, () => Error> = {
  'of this SDK': () => new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such tool', { name: 'x' }),
  'of the client package': () => new ClientProtocolError(ProtocolErrorCode.InvalidParams, 'No such tool'),
  'of the first major version': () =>
    Object.assign(new Error('MCP error -32602: No such tool'), {
      name: 'McpError',
      code: -32602,
      data: undefined,
    }),
};

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function connect(logged: string[]): Promise<Client> {
  const take = (message: string): void => void logged.push(message);
  const logger = { debug: take, info: take, warn: take, error: take };
  // The low-level server: McpServer makes results of protocol errors.
  const server = new Server({ name: 'failing', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', async ({ params }): Promise<CallToolResult> => {
    try {
      const protocolError = PROTOCOL[params.name]?.();
      if (protocolError !== undefined) throw protocolError;
      await FAILURES[params.name]?.();
      return { content: [] };
    } catch (error) {
      return handleToolError(error, logger);
    }
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'judge', version: '1.0.0' });
  await server.connect(serverSide);
  await client.connect(clientSide);
  return client;
}

describe('errors of tools', () => {
  verifies(
    'KIT-ERR-1',
    'errors of Node and of libraries reach a client without path, stack and credential',
    async () => {
      const logged: string[] = [];
      const client = await connect(logged);
      const codes: Record<string, unknown> = {};
      for (const name of Object.keys(FAILURES)) {
        const result = await client.callTool({ name });
        const { message, code } = result.structuredContent as { message: string; code?: string };
        expect.soft(result.isError, name).toBe(true);
        expect.soft(JSON.stringify(result), name).not.toMatch(/c4n4ry|\\n\s+at /);
        expect.soft(result.content, name).toEqual([{ type: 'text', text: `Error: ${message}` }]);
        const id = /\(error id: ([\da-f]{8})\)$/.exec(message)?.[1] ?? 'no id';
        expect.soft(logged.at(-1), name).toContain(id);
        codes[name] = code;
      }
      expect(codes).toEqual({
        file: 'NOT_FOUND',
        fetch: undefined,
        connection: 'SERVICE_ERROR',
        timeout: 'TIMEOUT',
        json: undefined,
        module: undefined,
        http: 'AUTHENTICATION_REQUIRED',
        url: undefined,
      });
      // The path of the missing file helps the operator.
      expect(logged.join('\n')).toContain(`/home/${CANARY}/missing folder/notes.txt`);
      await client.close();
    },
  );

  verifies('KIT-ERR-1', 'a protocol error reaches the client with its code', async () => {
    const client = await connect([]);
    for (const name of Object.keys(PROTOCOL))
      await expect.soft(client.callTool({ name }), name).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('No such tool') as string,
      });
    await client.close();
  });
});
