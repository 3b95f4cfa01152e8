// The gateway is stopped and started again under its clients.
import { describe, expect } from 'vitest';
import { fixture, temporaryFolder, textOf, type Json } from '../../support/harness.ts';
import {
  connectHttp,
  eventually,
  modern,
  openSession,
  rpc,
  send,
  startServe,
  type Answer,
  type ServeProcess,
  type Sent,
} from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

const servers = { echo: fixture('echo'), stall: fixture('stall'), asks: fixture('asks-client') };

/** Two starts in one folder, at one port. */
async function restarted(use: (first: ServeProcess) => Promise<() => Promise<void>>): Promise<void> {
  const folder = temporaryFolder();
  const first = await startServe(servers, { folder });
  const then = await use(first);
  await first[Symbol.asyncDispose]();
  const args = ['--port', new URL(first.url).port];
  await using second = await startServe(servers, { folder, args });
  expect([second.url, second.token]).toEqual([first.url, first.token]);
  await then();
}

describe.concurrent('a restart of the gateway', () => {
  verifies(
    ['ERA-1', 'SAFE-1'],
    'a modern client does not notice a restart of the gateway between two calls',
    async () => {
      await restarted(async ({ url, token }) => {
        const sdk = await connectHttp(url, 'modern', { token });
        const call = async (): Promise<unknown> =>
          (await sdk.client.callTool({ name: 'echo:add', arguments: { a: 1, b: 2 } })).structuredContent;
        expect(await call()).toEqual({ sum: 3 });
        return async () => {
          expect(await call()).toEqual({ sum: 3 });
          await sdk.client.close();
        };
      });
    },
  );

  verifies('ERA-1', 'a restart of the gateway ends legacy sessions, and clients open new ones', async () => {
    await restarted(async ({ url, token }) => {
      const client = await openSession(url, { token });
      expect((await client.post(rpc('ping', {}, 1))).status).toBe(200);
      return async () => {
        const { status, json } = await client.post(rpc('ping', {}, 1));
        expect(status).toBe(404);
        expect(json.error?.message).toContain('initialize');
        const again = await openSession(url, { token });
        expect(textOf((await again.post(again.call('echo:echo', { text: 'back' }))).json)).toBe('back');
      };
    });
  });

  verifies(
    ['ERA-1', 'ERA-2'],
    'a suspended call fails after a restart of the gateway, with the advice to call again',
    async () => {
      await restarted(async ({ url, token }) => {
        const ask = (more: Json = {}): Promise<Answer> =>
          send(
            url,
            authorized(
              modern('tools/call', { name: 'asks:elicit', ...more }, { capabilities: { elicitation: {} } }),
              token,
            ),
          );
        const { json } = await ask();
        const { requestState, inputRequests } = json.result as { requestState: string; inputRequests: Json };
        const [key = ''] = Object.keys(inputRequests);
        return async () => {
          const { json: late } = await ask({
            requestState,
            inputResponses: { [key]: { action: 'decline' } },
          });
          expect(late.error?.message).toContain('Make the call again');
        };
      });
    },
  );

  verifies.slow(
    'ERA-1',
    'calls in flight at shutdown get an error with the advice to call again',
    async () => {
      const slow = { ...servers, slow: fixture('slow-start') };
      delete (slow as Partial<typeof slow>).slow;
      await using weir = await startServe(slow);
      const { url, token } = weir;
      const client = await openSession(url, { token });
      const stalled = [
        send(url, authorized(modern('tools/call', { name: 'stall:stall' }), token)),
        client.post(client.call('stall:stall')),
      ];
      await eventually(async () => {
        const { json } = await send(url, authorized(modern('tools/call', { name: 'stall:stalled' }), token));
        return textOf(json) === '2' || undefined;
      });
      weir.kill('SIGTERM');
      const [modernAnswer, legacyAnswer] = await Promise.all(stalled);
      expect(modernAnswer?.json.error?.message).toContain('Call again');
      // This answer had become a stream by then.
      expect(legacyAnswer?.text).toContain('Call again');
      expect(await weir.ended).toEqual({ code: 0, signal: null });
    },
  );
});

function authorized({ headers, ...sent }: Sent, token: string): Sent {
  return { ...sent, headers: { ...headers, Authorization: `Bearer ${token}` } };
}
