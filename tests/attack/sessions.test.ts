// Clients that come and go without a word leave room for those that come after them.
import { describe, expect } from 'vitest';
import { textOf, type Json } from '../support/harness.ts';
import { openSession, serveTest, type LegacyClient } from '../support/http.ts';
import { answerText, sendJson, serveHttp, type RawServer } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

const MOST = 256;

/** A legacy server that answers each call with the session it was made in. */
async function serveSessions(): Promise<RawServer> {
  let last = 0;
  const result = (id: number | undefined, value: Json): Json => ({ jsonrpc: '2.0', id, result: value });
  return await serveHttp(({ method, headers, message: { id, method: asked } }, response) => {
    if (method === 'DELETE') return sendJson(response, '');
    if (method !== 'POST') return sendJson(response, '', 405);
    if (asked === 'initialize') {
      const greeting = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} };
      return sendJson(response, result(id, greeting), 200, { 'mcp-session-id': `session ${++last}` });
    }
    if (asked === 'tools/list')
      return sendJson(response, result(id, { tools: [{ name: 'which', inputSchema: { type: 'object' } }] }));
    if (asked === 'tools/call') return sendJson(response, answerText(id, String(headers['mcp-session-id'])));
    const refusal = { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } };
    return id === undefined ? sendJson(response, '', 202) : sendJson(response, refusal);
  });
}

describe('a per-session server', () => {
  verifies(
    ['SAFE-4', 'AGG-CALL-1'],
    'M9: a per-session server runs for the next client after 256 have vanished',
    async () => {
      await using remote = await serveSessions();
      await using served = await serveTest(
        { s: { url: remote.url, sharing: 'per-session' } },
        { separator: ':' },
      );
      const which = async (client: LegacyClient): Promise<string> => {
        const { json } = await client.post(client.call('s:which'));
        return json.error?.message ?? textOf(json);
      };
      const enter = async (): Promise<[LegacyClient, string]> => {
        const client = await openSession(served.url);
        return [client, await which(client)];
      };
      const [listening, first] = await enter();
      const [vanished, second] = await enter();
      const others: string[] = [];
      while (others.length < MOST - 3) {
        const few = Array.from({ length: Math.min(8, MOST - 3 - others.length) }, enter);
        others.push(...(await Promise.all(few)).map(([, own]) => own));
      }
      const [recent, last] = await enter();
      const had = [first, second, ...others, last];
      expect(new Set(had).size).toBe(MOST);
      const events = await listening.listen();
      const next = await openSession(served.url);
      expect(await which(next)).toMatch(/^session \d+$/u);
      // The idlest has lost its server: all that it gets is another. The one that listens has kept its own.
      expect(await which(listening)).toBe(first);
      expect(await which(recent)).toBe(last);
      expect(had).not.toContain(await which(vanished));
      events.drop();
    },
  );
});
