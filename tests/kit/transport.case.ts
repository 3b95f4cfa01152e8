// Promises that every way to serve HTTP keeps; run for each by transport-http.test.ts.
import { Server } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { modernMeta } from '../support/harness.ts';
import { verifies } from '../verifies.ts';
import {
  BOTH_TYPES,
  connect,
  type Door,
  type DoorOptions,
  type Kind,
  legacyCall,
  modernCall,
  openDoor,
  openLegacy,
  post,
  testServer,
  waiting,
} from './transport-doors.ts';

const ERAS = ['legacy', 'modern'] as const;
type AnyEra = (typeof ERAS)[number];
const textOf = (result: { content?: unknown }): unknown => (result.content as { text?: string }[])[0]?.text;

interface Rpc {
  id?: unknown;
  error?: { code: number; message: string };
  result?: { content: { text: string }[] };
}

export function describeHttp(kind: Kind): void {
  const opened = (options?: DoorOptions): Promise<Door> => openDoor(kind, options);
  const is = `the ${kind}`;

  /** Sends a call in either era; `session` is made once. */
  async function caller(door: Door, era: AnyEra) {
    const session = era === 'legacy' ? await openLegacy(door) : {};
    return (
      name: string,
      args: Record<string, unknown>,
      id = 1,
      init: RequestInit = {},
    ): Promise<Response> => {
      const [body, headers] =
        era === 'legacy' ? [legacyCall(name, args, id), session] : modernCall(name, args, id);
      return door.fetch(door.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: BOTH_TYPES, ...headers },
        body: JSON.stringify(body),
        ...init,
      });
    };
  }

  afterEach(() => waiting.clear());

  describe.each(ERAS)(`the SDK's %s client`, (era) => {
    verifies('KIT-TRANSPORT-1', `${is} answers calls, and reports progress before the answer`, async () => {
      await using door = await opened();
      const client = await connect(door, era);
      expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hello' } }))).toBe('hello');
      const seen: number[] = [];
      const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
      const result = await client.callTool({ name: 'count', arguments: { to: 3 } }, { onprogress });
      expect(textOf(result)).toBe('counted to 3');
      // The SDK's client may lose the last one, which arrives together with the answer.
      expect(seen.slice(0, 2)).toEqual([1, 2]);
      await client.close();
    });

    verifies('KIT-TRANSPORT-1', `${is} carries questions to the client and back`, async () => {
      await using door = await opened();
      const client = await connect(door, era, { capabilities: { elicitation: {} } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }));
      expect(textOf(await client.callTool({ name: 'ask' }))).toBe('Hello Ann');
      await client.close();
    });

    verifies('KIT-TRANSPORT-1', `${is} tells clients of changed lists`, async () => {
      await using door = await opened();
      const onChanged = vi.fn<() => void>();
      const client = await connect(door, era);
      client.setNotificationHandler('notifications/tools/list_changed', () => onChanged());
      if (era === 'modern') await client.listen({ toolsListChanged: true });
      await vi.waitFor(() => {
        door.notify.toolsChanged();
        expect(onChanged).toHaveBeenCalled();
      });
      await client.close();
    });

    test(`${is} shows handlers the headers and the URL of their request`, async () => {
      await using door = await opened();
      const call = await caller(door, era);
      const [body, headers] = modernCall('header', {});
      const extra = { 'x-test': 'here' };
      const answer =
        era === 'modern'
          ? await post(door, body, { ...headers, ...extra })
          : await post(door, legacyCall('header', {}), { ...(await openLegacy(door)), ...extra });
      expect(await answer.text()).toContain(`here ${door.url}`);
      expect((await call('header', {})).status).toBe(200);
    });

    verifies('KIT-TRANSPORT-1', `${is} aborts a call whose client disconnects`, async () => {
      await using door = await opened();
      const call = await caller(door, era);
      const abort = new AbortController();
      const answer = call('wait', { key: `gone-${era}` }, 1, { signal: abort.signal }).catch(() => undefined);
      const { signal } = await vi.waitUntil(() => waiting.get(`gone-${era}`));
      abort.abort();
      await vi.waitUntil(() => signal.aborted);
      await answer;
    });

    verifies('KIT-TRANSPORT-1', `${is} never gives a client the answer of another one`, async () => {
      await using door = await opened();
      const canaries = Array.from({ length: 200 }, (_, index) => `canary-${index}`);
      // All have the same id, as clients that count from 1 do.
      const answers = await Promise.all(
        canaries.map(async (text) => {
          const call = await caller(door, era);
          return ((await (await call('echo', { text }, 7)).json()) as Rpc).result?.content[0]?.text;
        }),
      );
      expect(answers).toEqual(canaries);
    });

    verifies('KIT-TRANSPORT-1', `${is} answers what is in flight before it closes`, async () => {
      await using door = await opened();
      const call = await caller(door, era);
      const answer = call('wait', { key: `last-${era}` });
      const { release } = await vi.waitUntil(() => waiting.get(`last-${era}`));
      const closed = Promise.all([door.close(), door.close()]);
      setTimeout(release, 20);
      expect(await (await answer).text()).toContain('waited for last');
      await closed;
    });

    verifies('KIT-TRANSPORT-1', `${is} closes when its time is over, whatever is in flight`, async () => {
      await using door = await opened({ closeTimeoutMs: 30 });
      const call = await caller(door, era);
      const answer = call('wait', { key: `never-${era}` }).catch(() => undefined);
      const { signal } = await vi.waitUntil(() => waiting.get(`never-${era}`));
      await door.close();
      expect(signal.aborted).toBe(true);
      await answer;
    });

    verifies('KIT-TRANSPORT-1', `${is} ends open streams when it closes`, async () => {
      const door = await opened();
      const session = era === 'legacy' ? await openLegacy(door) : {};
      const id = 'listening';
      const params = { notifications: { toolsListChanged: true }, ...modernMeta() };
      const stream =
        era === 'legacy'
          ? await door.fetch(door.url, { headers: { ...session, accept: 'text/event-stream' } })
          : await post(
              door,
              { jsonrpc: '2.0', id, method: 'subscriptions/listen', params },
              { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
            );
      expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(stream.headers.get('x-accel-buffering')).toBe('no');
      const text = stream.text();
      await door.close();
      expect(await text).toContain(era === 'legacy' ? '' : id);
    });

    test(`${is} answers the error of a handler without its stack`, async () => {
      await using door = await opened();
      const answer = await (await (await caller(door, era))('throw', {})).text();
      expect(answer).toContain('a secret of the handler');
      expect(answer).not.toMatch(/\.ts|at /);
    });

    verifies(
      'KIT-TRANSPORT-1',
      `${is} answers 500 where the factory fails, and logs the reason`,
      async () => {
        await using door = await opened({
          serverFactory: () => {
            throw new Error('no database');
          },
        });
        const [body, headers] = modernCall('echo', { text: 'x' }, 5);
        const opening = {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'a', version: '1' },
        };
        const response =
          era === 'modern'
            ? await post(door, body, headers)
            : await post(door, { jsonrpc: '2.0', id: 5, method: 'initialize', params: opening });
        expect(response.status).toBe(500);
        const error = { code: -32_603, message: 'Internal server error' };
        expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 5, error });
        expect(door.logged).toEqual(['The server factory failed Error: no database']);
      },
    );

    verifies('KIT-TRANSPORT-1', `${is} refuses a factory that returns one server twice`, async () => {
      const server = testServer();
      await using door = await opened({ serverFactory: () => server });
      const call = await caller(door, era);
      await (await call('echo', { text: 'one' })).text();
      const again = era === 'modern' ? await call('echo', { text: 'two' }) : undefined;
      if (era === 'legacy') expect((await openLegacy(door))['mcp-session-id']).toBe('');
      else expect(again?.status).toBe(500);
      expect(door.logged.join()).toContain('returned a server that it had returned before');
    });
  });

  describe('requests that are not served', () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const large = JSON.stringify({ ...ping, params: { pad: 'x'.repeat(4 * 1024 * 1024) } });
    const modern = modernCall('echo', { text: 'x' });
    const json = { 'content-type': 'application/json', accept: BOTH_TYPES };
    const session = { 'mcp-session-id': 'unknown' };
    const cases: [string, RequestInit, number, number?][] = [
      ['a GET without a session', { method: 'GET', headers: { accept: BOTH_TYPES } }, 405, -32_000],
      ['a DELETE without a session', { method: 'DELETE' }, 405, -32_000],
      ['a PUT', { method: 'PUT', body: '{}', headers: json }, 405, -32_000],
      [
        'a GET of an unknown session',
        { method: 'GET', headers: { accept: BOTH_TYPES, ...session } },
        404,
        -32_001,
      ],
      ['a DELETE of an unknown session', { method: 'DELETE', headers: session }, 404, -32_001],
      [
        'a POST of an unknown session',
        { method: 'POST', body: JSON.stringify(ping), headers: { ...json, ...session } },
        404,
        -32_001,
      ],
      [
        'a POST without a session',
        { method: 'POST', body: JSON.stringify(ping), headers: json },
        400,
        -32_000,
      ],
      [
        'another content type',
        { method: 'POST', body: '{}', headers: { ...json, 'content-type': 'text/plain' } },
        415,
        -32_000,
      ],
      [
        'a client that takes no streams',
        { method: 'POST', body: JSON.stringify(ping), headers: { ...json, accept: 'application/json' } },
        406,
        -32_000,
      ],
      ['a body above 4 MiB', { method: 'POST', body: large, headers: json }, 413, -32_000],
      ['an empty batch', { method: 'POST', body: '[]', headers: json }, 400, -32_600],
      ['JSON without a message', { method: 'POST', body: '{"a":1}', headers: json }, 400, -32_600],
      [
        'headers that disagree with the body',
        {
          method: 'POST',
          body: JSON.stringify(modern[0]),
          headers: { ...json, ...modern[1], 'mcp-name': 'other' },
        },
        400,
        -32_020,
      ],
      [
        'a modern request without its headers',
        { method: 'POST', body: JSON.stringify(modern[0]), headers: json },
        400,
        -32_020,
      ],
    ];
    // express.json() answers these in its own words.
    if (kind !== 'Express router')
      cases.push(
        ['broken JSON', { method: 'POST', body: '{"a":', headers: json }, 400, -32_700],
        ['an empty body', { method: 'POST', body: '', headers: json }, 400, -32_700],
      );

    verifies('KIT-TRANSPORT-1', `${is} answers each with its status and its code`, async () => {
      await using door = await opened();
      for (const [name, init, status, code] of cases) {
        if (kind === 'Express router' && name === 'a body above 4 MiB') continue;
        const response = await door.fetch(door.url, init);
        const body = (await response.json()) as Rpc;
        expect([name, response.status, body.error?.code]).toEqual([name, status, code]);
        expect(JSON.stringify(body)).not.toContain('    at ');
      }
    });

    test(`${is} names the allowed methods`, async () => {
      await using door = await opened();
      expect((await door.fetch(door.url)).headers.get('allow')).toBe('POST');
    });

    test(`${is} refuses everything once it is closed`, async () => {
      const door = await opened();
      if (kind !== 'fetch handler') return door.close();
      await door.close();
      expect((await post(door, ping)).status).toBe(503);
    });
  });

  describe('sessions of legacy clients', () => {
    verifies('KIT-TRANSPORT-1', `${is} ends a session at its DELETE`, async () => {
      await using door = await opened();
      const session = await openLegacy(door);
      expect((await door.fetch(door.url, { method: 'DELETE', headers: session })).status).toBe(200);
      expect((await post(door, legacyCall('echo', { text: 'x' }), session)).status).toBe(404);
    });

    verifies(
      'KIT-TRANSPORT-1',
      `${is} ends the session that is idle for longest where one more comes`,
      async () => {
        await using door = await opened({ maxSessions: 2 });
        const [first, second] = [await openLegacy(door), await openLegacy(door)];
        expect(first).not.toEqual(second);
        await (await post(door, legacyCall('echo', { text: 'x' }), first)).text();
        const third = await openLegacy(door);
        const status = async (session: Record<string, string>): Promise<number> =>
          (await post(door, legacyCall('echo', { text: 'x' }), session)).status;
        expect([await status(first), await status(second), await status(third)]).toEqual([200, 404, 200]);
      },
    );

    test(`${is} keeps a session with an open stream where another one can end`, async () => {
      await using door = await opened({ maxSessions: 3 });
      const sessions = [await openLegacy(door), await openLegacy(door), await openLegacy(door)];
      const headers = { ...sessions[0], accept: 'text/event-stream' };
      const stream = await door.fetch(door.url, { headers });
      const status = async (session: Record<string, string>): Promise<number> =>
        (await post(door, legacyCall('echo', { text: 'x' }), session)).status;
      // Used after the one with the stream.
      expect([await status(sessions[1] ?? {}), await status(sessions[2] ?? {})]).toEqual([200, 200]);
      await openLegacy(door);
      expect(await Promise.all(sessions.map(status))).toEqual([200, 404, 200]);
      await stream.body?.cancel();
    });

    verifies(
      'KIT-TRANSPORT-1',
      `${is} keeps busy sessions, and refuses one more where all are busy`,
      async () => {
        await using door = await opened({ maxSessions: 1 });
        const session = await openLegacy(door);
        const answer = post(door, legacyCall('wait', { key: 'busy' }), session);
        const { release } = await vi.waitUntil(() => waiting.get('busy'));
        expect((await openLegacy(door))['mcp-session-id']).toBe('');
        release();
        expect((await answer).status).toBe(200);
      },
    );

    verifies(
      'KIT-TRANSPORT-1',
      `${is} ends idle sessions after their time, and keeps connected ones`,
      async () => {
        let now = 0;
        await using door = await opened({ sessionIdleMs: 20, now: () => now });
        const [idle, connected] = [await openLegacy(door), await openLegacy(door)];
        const stream = await door.fetch(door.url, { headers: { ...connected, accept: 'text/event-stream' } });
        expect(stream.headers.get('x-accel-buffering')).toBe('no');
        now = 20;
        await new Promise((resolve) => setTimeout(resolve, 40));
        const status = async (session: Record<string, string>): Promise<number> =>
          (await post(door, legacyCall('echo', { text: 'x' }), session)).status;
        expect([await status(idle), await status(connected)]).toEqual([404, 200]);
        await stream.body?.cancel();
      },
    );

    test(`${is} tells only subscribers of a changed resource`, async () => {
      await using door = await opened({
        serverFactory: () => {
          const server = new Server(
            { name: 'a', version: '1' },
            { capabilities: { resources: { subscribe: true } } },
          );
          server.setRequestHandler('resources/subscribe', () => ({}));
          return server;
        },
      });
      const session = await openLegacy(door);
      const stream = await door.fetch(door.url, { headers: { ...session, accept: 'text/event-stream' } });
      const params = { uri: 'file:///one' };
      await (
        await post(door, { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params }, session)
      ).text();
      door.notify.resourceUpdated('file:///two');
      door.notify.resourceUpdated('file:///one');
      const reader = stream.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
      const text = new TextDecoder().decode((await reader.read()).value);
      expect(text).toContain('file:///one');
      expect(text).not.toContain('file:///two');
      await reader.cancel();
    });

    verifies('KIT-TRANSPORT-1', `${is} lets a client take a stream up again where it broke off`, async () => {
      await using door = await opened();
      const session = await openLegacy(door);
      const first = await (await post(door, legacyCall('away', {}), session)).text();
      expect(first).toContain('before');
      const id = [...first.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
      const headers = { ...session, accept: 'text/event-stream', 'last-event-id': id };
      const rest = await (await door.fetch(door.url, { headers })).text();
      expect(rest).toContain('meanwhile');
      expect(rest).toContain('came back');
      expect(rest).not.toContain('before');
      expect((await door.fetch(door.url, { headers })).status).toBe(400);
    });

    verifies('KIT-TRANSPORT-1', `${is} ends a request that its client cancels`, async () => {
      await using door = await opened();
      const session = await openLegacy(door);
      const answer = post(door, legacyCall('wait', { key: 'cancel' }, 4), session);
      const { signal } = await vi.waitUntil(() => waiting.get('cancel'));
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 4 } };
      expect((await post(door, cancelled, session)).status).toBe(202);
      expect(await (await answer).text()).toBe('');
      expect(signal.aborted).toBe(true);
      expect((await post(door, legacyCall('echo', { text: 'x' }, 4), session)).status).toBe(200);
    });

    test(`${is} answers a batch`, async () => {
      await using door = await opened();
      const session = await openLegacy(door);
      const batch = [legacyCall('echo', { text: 'one' }, 1), legacyCall('echo', { text: 'two' }, 2)];
      const text = await (await post(door, batch, session)).text();
      expect(text).toContain('one');
      expect(text).toContain('two');
      const notice = { jsonrpc: '2.0', method: 'notifications/initialized' };
      expect((await post(door, [notice], session)).status).toBe(202);
    });

    test(`${is} refuses an id that is still being answered, a second initialize and an unknown version`, async () => {
      await using door = await opened();
      const session = await openLegacy(door);
      const answer = post(door, legacyCall('wait', { key: 'same' }), session);
      const { release } = await vi.waitUntil(() => waiting.get('same'));
      expect((await post(door, legacyCall('echo', { text: 'x' }), session)).status).toBe(400);
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      };
      const opening = { jsonrpc: '2.0', id: 9, method: 'initialize', params };
      expect((await post(door, opening, session)).status).toBe(400);
      const odd = { ...session, 'mcp-protocol-version': '1999-01-01' };
      expect((await post(door, legacyCall('echo', { text: 'x' }, 3), odd)).status).toBe(400);
      release();
      expect((await answer).status).toBe(200);
    });

    test(`${is} keeps a slow call alive by a stream`, async () => {
      await using door = await opened({ keepAliveMs: 15 });
      const session = await openLegacy(door);
      const answer = post(door, legacyCall('wait', { key: 'slow' }), session);
      const { release } = await vi.waitUntil(() => waiting.get('slow'));
      const response = await answer;
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      setTimeout(release, 40);
      const text = await response.text();
      expect(text).toContain(': keepalive');
      expect(text).toContain('waited for slow');
    });

    test.each([
      ['stateless', 200],
      ['reject', 400],
    ] as const)(`${is} serves legacy clients as "legacy": "%s" says`, async (legacy, status) => {
      await using door = await opened({ legacy });
      const response = await post(door, legacyCall('echo', { text: 'x' }));
      expect(response.status).toBe(status);
      await response.text();
    });
  });
}
