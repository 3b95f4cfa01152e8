import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { createGateway } from '../../gateway/gateway.ts';
import { DEFAULT_LIMITS, serveHttp, type HttpOptions } from './serve-http.ts';

const serverInfo = { name: 'x', version: '1' };

/** Resolves with the served address, or the message of the error. */
async function addressOf(options: Partial<HttpOptions>): Promise<string> {
  const gateway = createGateway({ mcpServers: {} });
  try {
    const front = await serveHttp(gateway, { port: 0, serverInfo, ...options });
    await front.close();
    return front.url.replace(/:\d+/u, '');
  } catch (error) {
    return (error as Error).message;
  } finally {
    await gateway.close();
  }
}

describe('a front without a token', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.org', ''])
    verifies('SAFE-1', `serveHttp without a token refuses to listen on ${JSON.stringify(host)}`, async () => {
      expect(await addressOf({ host })).toMatch(/^Weir serves without a token only on this machine, not/u);
    });

  verifies('SAFE-1', 'serveHttp listens on the loopback address by default', async () => {
    expect(await addressOf({})).toBe('http://127.0.0.1/mcp');
    expect(await addressOf({ host: 'localhost' })).toBe('http://localhost/mcp');
  });
});

verifies('SAFE-1', 'serveHttp with a token listens on other addresses', async () => {
  expect(await addressOf({ host: '0.0.0.0', token: 'x'.repeat(20) })).toBe('http://0.0.0.0/mcp');
});

verifies('SAFE-1', 'the default timeouts are 10 s for headers and 30 s for a request', () => {
  expect(DEFAULT_LIMITS).toMatchObject({ headers: 10_000, request: 30_000 });
});
