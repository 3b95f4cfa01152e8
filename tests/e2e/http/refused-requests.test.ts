// Invalid requests are refused as the specification says, at once and with little CPU.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, scripted, type Json } from '../../support/harness.ts';
import {
  modern,
  open,
  openSession,
  rpc,
  send,
  serveTest,
  startServe,
  ServeProcess,
  type Answer,
  type Sent,
} from '../../support/http.ts';
import { bundleProgram } from '../../support/program.ts';
import { verifies } from '../../verifies.ts';

/** A refusal may cost this much of the gateway's CPU. */
const MOST_CPU_MS = 50;

/** A tool that wants an argument repeated in a header. */
const regions = scripted(`
  import { serve, text, tool } from 'stdio';
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  serve({ name: 'regions', tools: [tool('ask', { inputSchema })], call: { ask: ({ region }) => text(region) } });
`);

let weir: ServeProcess;
beforeAll(async () => {
  weir = await startServe({ echo: fixture('echo'), asks: fixture('asks-client'), regions });
  // Code that is compiled at its first use must not count for a single request.
  for (let round = 0; round < 30; round++) await attempt(goodCall());
});
afterAll(() => weir[Symbol.asyncDispose]());

async function attempt({ headers, ...sent }: Sent): Promise<Answer> {
  return send(weir.url, { ...sent, headers: { Authorization: `Bearer ${weir.token}`, ...headers } });
}

function goodCall(): Sent {
  return modern('tools/call', { name: 'echo:echo', arguments: { text: 'good' } });
}

function withHeaders(headers: Json): Sent {
  const call = goodCall();
  return { ...call, headers: { ...call.headers, ...(headers as Record<string, string | undefined>) } };
}

interface Verdict {
  readonly status: number;
  readonly code?: number;
  /** A part of the message. */
  readonly says?: string;
}

/** Checks the refusal, its CPU time, and that the gateway still serves. */
async function expectRefusal(sent: Sent, { status, code, says = '' }: Verdict): Promise<Answer> {
  const before = process.platform === 'linux' ? weir.cpu() : 0;
  const answer = await attempt(sent);
  const spent = process.platform === 'linux' ? weir.cpu() - before : 0;
  expect([answer.status, answer.json.error?.code]).toEqual([status, code]);
  expect(answer.json.error?.message ?? '').toContain(says);
  expect(spent).toBeLessThan(MOST_CPU_MS);
  expect((await attempt(goodCall())).status).toBe(200);
  return answer;
}

describe('requests without access', () => {
  const port = (): string => new URL(weir.url).port;

  verifies('SAFE-1', 'the gateway refuses a foreign Host', async () => {
    const hosts = [
      'evil.example',
      `evil.example:${port()}`,
      `localhost.evil.example:${port()}`,
      '127.0.0.1',
      '127.0.0.1:1',
    ];
    for (const Host of hosts)
      await expectRefusal(withHeaders({ Host }), {
        status: 403,
        code: -32000,
        says: `Host '${Host}' is not allowed`,
      });
    for (const Host of [`localhost:${port()}`, `LOCALHOST:${port()}`, `[::1]:${port()}`])
      expect((await attempt(withHeaders({ Host }))).status).toBe(200);
  });

  verifies('SAFE-1', 'the gateway refuses a foreign Origin, also another port of this machine', async () => {
    for (const Origin of [
      'https://evil.example',
      'null',
      'http://localhost:1',
      `https://localhost:${port()}`,
      'x',
    ])
      await expectRefusal(withHeaders({ Origin }), { status: 403, code: -32000, says: `Origin '${Origin}'` });
    expect((await attempt(withHeaders({ Origin: `http://localhost:${port()}` }))).status).toBe(200);
    const preflight = await send(weir.url, {
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example' },
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  verifies('SAFE-1', 'the gateway refuses a missing, wrong or misplaced token', async () => {
    const { token } = weir;
    const wrong = [
      undefined,
      'Bearer',
      'Bearer x',
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token} ${token}`,
      token,
    ];
    for (const Authorization of wrong) {
      const { headers } = await expectRefusal(withHeaders({ Authorization }), { status: 401, code: -32000 });
      expect(headers['www-authenticate']).toMatch(/^Bearer/u);
    }
    const inUrl = await send(`${weir.url}?token=${token}`, withHeaders({ Authorization: undefined }));
    expect(inUrl.status).toBe(401);
    expect((await attempt(withHeaders({ Authorization: `bearer  ${token}` }))).status).toBe(200);
  });
});

describe('invalid requests', () => {
  verifies('SAFE-1', 'the gateway refuses other content types and encodings', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', undefined, 'application/jsonp'])
      await expectRefusal(withHeaders({ 'Content-Type': type }), { status: 415, code: -32600 });
    for (const encoding of ['gzip', 'br, identity'])
      await expectRefusal(withHeaders({ 'Content-Encoding': encoding }), {
        status: 415,
        code: -32600,
        says: `Content-Encoding '${encoding}' is not supported`,
      });
    expect((await attempt(withHeaders({ 'Content-Encoding': 'Identity' }))).status).toBe(200);
    const named = withHeaders({ 'Content-Type': 'Application/JSON; charset=utf-8' });
    expect((await attempt(named)).status).toBe(200);
  });

  verifies('ERA-1', 'the gateway refuses an Accept header without both kinds of answers', async () => {
    for (const Accept of ['application/json', 'text/event-stream', 'text/html', undefined])
      await expectRefusal(withHeaders({ Accept }), { status: 406, code: -32600 });
  });

  verifies('SAFE-1', 'the gateway refuses a body of 5 MB', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { big: 'x'.repeat(5e6) } });
    await expectRefusal({ body }, { status: 413, code: -32600, says: '4194304 bytes. Send less at once.' });
    const chunked = { 'Transfer-Encoding': 'chunked' };
    await expectRefusal({ body, headers: chunked }, { status: 413, code: -32600 });
  });

  verifies('SAFE-1', 'the gateway refuses bodies that are invalid or too deep JSON', async () => {
    const depth = 200_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const inside = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${deep}}}`;
    const tooDeep = 'The body is nested deeper than 10000 levels';
    await expectRefusal({ body: deep }, { status: 400, code: -32600 });
    await expectRefusal({ body: inside }, { status: 400, code: -32700, says: tooDeep });
    for (const body of ['', '{', 'null x', '{"jsonrpc":"2.0","id":1,"method":"tools/list"', 'x'.repeat(1e6)])
      await expectRefusal({ body }, { status: 400, code: -32700, says: 'The body is not JSON.' });
    for (const body of [
      'null',
      '1',
      '{}',
      '{"id":1,"method":"ping"}',
      '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    ])
      await expectRefusal({ body }, { status: 400, code: -32600 });
  });

  verifies('ERA-1', 'the gateway refuses a batch outside its revision', async () => {
    const body = `[${String(goodCall().body)}]`;
    await expectRefusal({ ...goodCall(), body }, { status: 400, code: -32600, says: '2025-03-26' });
    await expectRefusal({ body: `[${rpc('initialize', {}, 1)}]` }, { status: 400, code: -32600 });
  });

  verifies('ERA-1', 'the gateway refuses an answer to a question that was never sent', async () => {
    const headers = { 'MCP-Protocol-Version': '2026-07-28' };
    await expectRefusal(
      { headers, body: '{"jsonrpc":"2.0","id":1,"result":{}}' },
      { status: 400, code: -32600 },
    );
  });

  verifies('ERA-1', 'the gateway refuses other HTTP methods', async () => {
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Content-Type': undefined };
    for (const method of ['GET', 'DELETE']) {
      const answer = await expectRefusal({ method, headers }, { status: 405, code: -32600 });
      expect(answer.headers.allow).toBe('POST');
    }
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'TRACE'])
      await expectRefusal({ method, headers: { 'Content-Type': undefined } }, { status: 405, code: -32600 });
  });
});

describe('a modern request that contradicts itself', () => {
  verifies('ERA-5', 'the gateway refuses headers that contradict the body', async () => {
    const wrong: Json[] = [
      { 'Mcp-Method': 'prompts/get' },
      { 'Mcp-Method': 'TOOLS/CALL' },
      { 'Mcp-Method': undefined },
      { 'Mcp-Name': 'echo:add' },
      { 'Mcp-Name': undefined },
      { 'Mcp-Name': '=?base64?ZWNobzplY2hv' },
      { 'Mcp-Name': '=?base64?ZWNobzplY2hvIQ==?=' },
      { 'Mcp-Name': '=?base64?ZWNo!!bw==?=' },
      { 'MCP-Protocol-Version': '2025-11-25' },
      { 'MCP-Protocol-Version': undefined },
    ];
    for (const headers of wrong) {
      const { json } = await expectRefusal(withHeaders(headers), {
        status: 400,
        code: -32020,
        says: 'Header mismatch',
      });
      expect(json.id).toBe(1);
    }
    expect((await attempt(withHeaders({ 'Mcp-Name': '=?base64?ZWNobzplY2hv?=' }))).status).toBe(200);
    expect((await attempt(withHeaders({ 'Mcp-Name': '  echo:echo ' }))).status).toBe(200);
  });

  verifies('ERA-5', 'the gateway refuses a header that contradicts the argument it repeats', async () => {
    const routed = (headers: Json, region: unknown = 'eu'): Sent => {
      const call = modern('tools/call', { name: 'regions:ask', arguments: { region } });
      return { ...call, headers: { ...call.headers, ...(headers as Record<string, string>) } };
    };
    for (const headers of [{}, { 'Mcp-Param-Region': 'us' }, { 'Mcp-Param-Region': '=?base64?ZXU?=' }])
      await expectRefusal(routed(headers), { status: 400, code: -32020, says: 'Mcp-Param-Region' });
    for (const value of ['eu', ' eu ', '=?base64?ZXU=?='])
      expect((await attempt(routed({ 'Mcp-Param-Region': value }))).status).toBe(200);
    expect((await attempt(routed({}, null))).status).toBe(200);
  });

  verifies(
    'ERA-1',
    'the gateway refuses an unsupported revision with the list of supported ones',
    async () => {
      const meta = { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
      const call = modern('tools/list', {}, { meta });
      const sent = { ...call, headers: { ...call.headers, 'MCP-Protocol-Version': '2027-01-01' } };
      const { json } = await expectRefusal(sent, { status: 400, code: -32022 });
      expect(json.error?.data).toEqual({ supported: ['2026-07-28'], requested: '2027-01-01' });
      expect(json.id).toBe(1);
    },
  );

  verifies('ERA-1', 'the gateway refuses a modern request with an incomplete envelope', async () => {
    const { headers } = goodCall();
    const lacking = [
      {},
      { _meta: {} },
      { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    ];
    for (const params of lacking) {
      const body = rpc('tools/call', { name: 'echo:echo', ...params }, 3);
      const { json } = await expectRefusal({ headers: headers ?? {}, body }, { status: 400, code: -32602 });
      expect(json.id).toBe(3);
    }
  });

  verifies('ERA-1', 'the gateway refuses unknown and legacy-only methods in modern requests', async () => {
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'no/such'])
      await expectRefusal(modern(method), { status: 404, code: -32601 });
  });
});

describe('an invalid requestState on HTTP', () => {
  const asked = (more: Json = {}): Sent =>
    modern('tools/call', { name: 'asks:elicit', ...more }, { capabilities: { elicitation: { form: {} } } });

  async function parked(): Promise<{ requestState: string; inputResponses: Json }> {
    const { json } = await attempt(asked());
    const { requestState, inputRequests } = json.result as { requestState: string; inputRequests: Json };
    const answer = { action: 'accept', content: { name: 'Ann' } };
    const keys = Object.keys(inputRequests);
    expect(keys).toHaveLength(1);
    return { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, answer])) };
  }

  verifies(['ERA-2', 'SAFE-1'], 'the gateway refuses a forged requestState on HTTP', async () => {
    const { requestState, inputResponses } = await parked();
    const cut = requestState.slice(0, -1);
    const forged = [
      `${cut}${requestState.endsWith('A') ? 'B' : 'A'}`,
      cut,
      'x',
      `${requestState}x`,
      'x'.repeat(1e6),
    ];
    for (const state of forged)
      await expectRefusal(asked({ requestState: state, inputResponses }), { status: 200, code: -32602 });
    expect((await attempt(asked({ requestState, inputResponses }))).text).toContain('Ann');
  });

  verifies(
    ['ERA-2', 'SAFE-1'],
    'the gateway refuses a requestState on HTTP that was used before or for another call',
    async () => {
      const { requestState, inputResponses } = await parked();
      const other = asked({ requestState, inputResponses, arguments: { message: 'Another?' } });
      await expectRefusal(other, { status: 200, code: -32602 });
      expect((await attempt(asked({ requestState, inputResponses }))).text).toContain('Ann');
      await expectRefusal(asked({ requestState, inputResponses }), { status: 200, code: -32602 });
    },
  );
});

interface Drip {
  readonly more: string;
  /** Milliseconds. */
  readonly every?: number;
}

describe('slow requests', () => {
  const limits = { headers: 300, request: 600 };

  /** Of requests that never end: one in its headers, one in its body. */
  function beginnings(url: string, token: string): { head: string; body: string } {
    const head = `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\n`;
    const all = `${head}Authorization: Bearer ${token}\r\nAccept: */*\r\n`;
    return { head, body: `${all}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{` };
  }

  /** Sends one text and then another again and again until the connection closes; returns the answer. */
  async function drip(url: string, first: string, { more, every = 50 }: Drip): Promise<string> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => {}).write(first);
    const timer = setInterval(() => socket.write(more), every);
    await once(socket, 'close');
    clearInterval(timer);
    return text;
  }

  verifies('SAFE-1', 'the gateway ends slow requests with 408 while it serves others', async () => {
    await using http = await serveTest({ echo: fixture('echo') }, { http: { limits } });
    const { head, body } = beginnings(http.url, 'a-token-for-tests-that-is-long-enough');
    const slow = Array.from({ length: 20 }, () => drip(http.url, head, { more: 'X: y\r\n' }));
    slow.push(drip(http.url, body, { more: ' ' }));
    const started = performance.now();
    const { json } = await send(
      http.url,
      modern('tools/call', { name: 'echo:echo', arguments: { text: 'quick' } }),
    );
    expect(json.result).toBeDefined();
    expect(performance.now() - started).toBeLessThan(1000);
    for (const text of await Promise.all(slow)) expect(text).toMatch(/^HTTP\/1\.1 408 /u);
  });

  verifies.skipIf(process.platform === 'linux' ? undefined : 'reads the CPU from /proc')(
    'SAFE-1',
    'a slow request costs less than 50 ms of CPU',
    async () => {
      await using slowed = await startWithLimits({ headers: 2000, request: 3000 });
      const { head, body } = beginnings(slowed.url, slowed.token);
      const before = slowed.cpu();
      const slow = Array.from({ length: 10 }, () => [
        drip(slowed.url, head, { more: 'X: y\r\n', every: 20 }),
        drip(slowed.url, body, { more: ' ', every: 20 }),
      ]).flat();
      for (const text of await Promise.all(slow)) expect(text).toMatch(/^HTTP\/1\.1 408 /u);
      expect((slowed.cpu() - before) / slow.length).toBeLessThan(MOST_CPU_MS);
      expect((await send(slowed.url, goodCall())).json.result).toBeDefined();
    },
  );

  /** Serves HTTP in a process of its own, under shorter limits than a user can set. */
  async function startWithLimits(shorter: typeof limits): Promise<ServeProcess> {
    const token = 'a-token-for-tests-that-is-long-enough';
    const program = await bundleProgram(`
      import { createGateway, serveHttp } from '@weir/gateway';
      const gateway = createGateway({ mcpServers: { echo: ${JSON.stringify(fixture('echo'))} } }, { env: process.env });
      const options = { port: 0, token: '${token}', limits: ${JSON.stringify(shorter)} };
      const front = await serveHttp(gateway, { ...options, serverInfo: { name: 'weir', version: '1.0.0' } });
      process.once('SIGTERM', () => front.close());
      console.log(front.url, 'token=${token}');
    `);
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] });
    const served = new ServeProcess(child);
    await Promise.race([served.announced, served.ended]);
    return served;
  }
});

describe('malformed HTTP', () => {
  async function raw(text: string): Promise<string> {
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('error', () => {}).end(text);
    await once(socket, 'close');
    return answer;
  }

  verifies('SAFE-1', 'the gateway refuses two different hosts in one request', async () => {
    const { host } = new URL(weir.url);
    const health = (target: string, ...hosts: string[]): Promise<string> =>
      raw(
        `GET ${target} HTTP/1.1\r\n${hosts.map((name) => `Host: ${name}\r\n`).join('')}Connection: close\r\n\r\n`,
      );
    expect(await health('/healthz', host)).toMatch(/^HTTP\/1\.1 200 /u);
    for (const other of [host, 'evil.example'])
      expect(await health('/healthz', host, other)).toMatch(/ 400 [^]*the Host header is there twice/u);
    expect(await health(`http://${host}/healthz`, host)).toMatch(/^HTTP\/1\.1 200 /u);
    expect(await health('http://evil.example/healthz', host)).toMatch(/ 400 [^]*Name the same in both/u);
    expect(await health('http://evil.example/healthz', 'evil.example')).toMatch(/^HTTP\/1\.1 403 /u);
  });

  test('the gateway serves a request line with an absolute URL', async () => {
    const { headers, body } = goodCall();
    const own = { Authorization: `Bearer ${weir.token}`, 'Content-Type': 'application/json' };
    const accept = { Accept: 'application/json, text/event-stream' };
    const outgoing = request(weir.url, {
      method: 'POST',
      path: weir.url,
      headers: { ...own, ...accept, ...headers },
      agent: false,
    }).end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([200, expect.stringContaining('good')]);
  });

  test('errors shorten long names', async () => {
    const long = `echo__${'é'.repeat(60_000)}`;
    const session = await openSession(weir.url, { token: weir.token });
    for (const [method, params] of [
      ['tools/call', { name: long }],
      ['prompts/get', { name: long }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: long }, argument: { name: 'a', value: '' } },
      ],
    ] as const) {
      const { json } = await session.post(rpc(method, params, 1));
      expect(json.error?.message).toMatch(/not found: echo__é{194}…$/u);
    }
  });

  test('the gateway refuses two lengths, a missing Host and an endless header', async () => {
    const { host } = new URL(weir.url);
    const both = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await raw(both)).toMatch(/^HTTP\/1\.1 400 /u);
    expect(await raw('POST /mcp HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /u);
    expect(await raw(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(
      / 431 /u,
    );
    expect((await attempt(goodCall())).status).toBe(200);
  });

  test('the gateway answers 404 for unknown session ids', async () => {
    const client = await openSession(weir.url, { token: weir.token });
    for (const id of ['', '../..', 'x'.repeat(5000), client.id.toUpperCase().replace('A', 'B')]) {
      const response = await open(weir.url, {
        headers: { Authorization: `Bearer ${weir.token}`, 'Mcp-Session-Id': id },
        body: rpc('ping', {}, 1),
      });
      expect(response.statusCode).toBe(id === client.id ? 200 : 404);
      response.destroy();
    }
  });
});
