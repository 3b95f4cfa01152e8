// Section D of the attack list: HTTP. Titles begin with the number of the case in cases.ts.
import { once } from 'node:events';
import { Agent, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { fixture } from '../support/harness.ts';
import {
  eventually,
  modern,
  open,
  rpc,
  send,
  startServe,
  type Headers,
  type ServeProcess,
} from '../support/http.ts';
import { verifies } from '../verifies.ts';

let weir: ServeProcess;
beforeAll(async () => {
  weir = await startServe({ echo: fixture('echo') });
});
afterAll(() => weir[Symbol.asyncDispose]());

const call = modern('tools/call', { name: 'echo__echo', arguments: { text: 'good' } });
const authorized = (): Headers => ({ Authorization: `Bearer ${weir.token}` });

/** Sends these lines and returns all that comes until the gateway has answered once. */
async function exchange(lines: readonly string[], body = ''): Promise<string> {
  const socket = connectTo();
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const [answer] = (await once(socket, 'data')) as [string];
  socket.destroy();
  return answer;
}

function connectTo(): Socket {
  const { hostname, port } = new URL(weir.url);
  return connect(Number(port), hostname).setEncoding('utf8');
}

/** The head of a POST of `length` bytes with these header lines. */
function head(length: number, ...more: string[]): string[] {
  const { host } = new URL(weir.url);
  return [
    'POST /mcp HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${length}`,
    ...more,
  ];
}

verifies('SAFE-4', '43: a request without the token is refused before its body arrives', async () => {
  expect(await exchange(head(4_000_000))).toMatch(/^HTTP\/1\.1 401 /u);
});

verifies('SAFE-4', '49: two Authorization headers are refused, whichever of them is right', async () => {
  const right = `Authorization: Bearer ${weir.token}`;
  const body = rpc('ping', {}, 1);
  const tried = [
    ['Authorization: Bearer wrong', right],
    ['Authorization: Bearer wrong', 'Authorization: Bearer wrong'],
    [`Authorization: Bearer wrong, Bearer ${weir.token}`],
    [`Authorization:\tBearer\t${weir.token}x`],
    [`X-Authorization: Bearer ${weir.token}`],
    [`Proxy-Authorization: Bearer ${weir.token}`],
    [`Cookie: Authorization=Bearer ${weir.token}`],
  ];
  for (const lines of tried)
    expect([lines, await exchange(head(body.length, ...lines), body)]).toEqual([
      lines,
      expect.stringMatching(/^HTTP\/1\.1 40[01] /u),
    ]);
});

verifies('SAFE-4', '55: a preflight of a foreign page gets no permission', async () => {
  const Origin = 'https://evil.example';
  const asked = {
    Origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization',
  };
  const { status, headers } = await send(weir.url, {
    method: 'OPTIONS',
    headers: { ...authorized(), ...asked },
  });
  expect(status).toBe(403);
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
});

verifies('SAFE-4', '57: duplicate keys, __proto__ and invalid UTF-8 are refused or harmless', async () => {
  const params = '"params":{"name":"echo__echo","arguments":{"text":"good"}}';
  const bodies = [
    `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","method":"ping",${params}}`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"admin":true},"params":{"__proto__":{"x":1}}}`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"constructor":{"prototype":{"x":1}}}}`,
    Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff\xfe"}}`, 'latin1'),
    Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
    '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '[[[[[]]]]]',
    'null',
  ];
  for (const body of bodies) {
    const { status } = await send(weir.url, { headers: authorized(), body });
    expect(status).toBeLessThan(500);
  }
  const { json } = await send(weir.url, { ...call, headers: { ...call.headers, ...authorized() } });
  expect(json.result).toMatchObject({ content: [{ text: 'good' }] });
});

verifies('SAFE-4', '66: /healthz and /readyz show no address, command or token', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const { text } = await send(new URL(path, weir.url).href, {
      method: 'GET',
      headers: { Authorization: undefined, 'Content-Type': undefined },
    });
    for (const secret of [weir.token, 'fixtures', process.execPath, weir.url])
      expect(text).not.toContain(secret);
  }
});

verifies('SAFE-4', '68: forwarded headers change no decision', async () => {
  const { host } = new URL(weir.url);
  const forged = {
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Host': host,
    'X-Forwarded-Proto': 'https',
    'X-Real-IP': '127.0.0.1',
    Forwarded: `for=127.0.0.1;host=${host}`,
  };
  const refused = async (headers: Headers): Promise<number> =>
    (await send(weir.url, { ...call, headers: { ...call.headers, ...authorized(), ...forged, ...headers } }))
      .status;
  expect(await refused({ Authorization: undefined })).toBe(401);
  expect(await refused({ Host: 'evil.example' })).toBe(403);
  expect(await refused({ Origin: 'https://evil.example' })).toBe(403);
  expect(await refused({ 'X-Forwarded-Host': 'evil.example' })).toBe(200);
});

verifies(
  'SAFE-4',
  '60: 1,000 subscriptions may be open, and the next is refused until one ends',
  async () => {
    const agent = new Agent({ keepAlive: true });
    const sent = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const listen = (): Promise<IncomingMessage> =>
      open(weir.url, { ...sent, agent, headers: { ...sent.headers, ...authorized() } });
    const streams: IncomingMessage[] = [];
    for (let i = 0; i < 1000; i += 50)
      streams.push(...(await Promise.all(Array.from({ length: 50 }, () => listen()))));
    expect(new Set(streams.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect((await listen()).statusCode).toBe(503);
    const { status } = await send(weir.url, { ...call, headers: { ...call.headers, ...authorized() } });
    expect(status).toBe(200);
    streams[0]?.destroy();
    await eventually(async () => ((await listen()).statusCode === 200 ? true : undefined));
    agent.destroy();
  },
);
