// What should not be answered is refused as the specification says, at once and for next to no CPU.
import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
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
  weir = await startServe({ echo: fixture('echo'), asks: fixture('asks'), regions });
  // What is compiled at the first use belongs to no single request.
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
  /** What the message says among other things. */
  readonly says?: string;
}

/** The refusal, its price, and that the gateway is as good as before. */
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

describe('who may not enter', () => {
  const port = (): string => new URL(weir.url).port;

  verifies('SAFE-1', 'a name that this machine was given by somebody else', async () => {
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
        says: `Host '${Host}' is not served`,
      });
    for (const Host of [`localhost:${port()}`, `LOCALHOST:${port()}`, `[::1]:${port()}`])
      expect((await attempt(withHeaders({ Host }))).status).toBe(200);
  });

  verifies('SAFE-1', 'a page from elsewhere, also from another port of this machine', async () => {
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

  verifies('SAFE-1', 'who does not show the token, or another one, or in another place', async () => {
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

describe('what is no request', () => {
  verifies('SAFE-1', 'another kind of content, as a form of a page could send it', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', undefined, 'application/jsonp'])
      await expectRefusal(withHeaders({ 'Content-Type': type }), { status: 415, code: -32600 });
    for (const encoding of ['gzip', 'br, identity'])
      await expectRefusal(withHeaders({ 'Content-Encoding': encoding }), {
        status: 415,
        code: -32600,
        says: `Content-Encoding is '${encoding}'; messages are read only as they are`,
      });
    expect((await attempt(withHeaders({ 'Content-Encoding': 'Identity' }))).status).toBe(200);
    const named = withHeaders({ 'Content-Type': 'Application/JSON; charset=utf-8' });
    expect((await attempt(named)).status).toBe(200);
  });

  verifies('ERA-1', 'one whose sender cannot read both kinds of answers', async () => {
    for (const Accept of ['application/json', 'text/event-stream', 'text/html', undefined])
      await expectRefusal(withHeaders({ Accept }), { status: 406, code: -32600 });
  });

  verifies('SAFE-1', '5 MB of body', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { big: 'x'.repeat(5e6) } });
    await expectRefusal({ body }, { status: 413, code: -32600, says: '4194304 bytes. Send less at once.' });
    const chunked = { 'Transfer-Encoding': 'chunked' };
    await expectRefusal({ body, headers: chunked }, { status: 413, code: -32600 });
  });

  verifies('SAFE-1', 'JSON that is no end deep, or none', async () => {
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

  verifies('ERA-1', 'a batch outside its revision', async () => {
    const body = `[${String(goodCall().body)}]`;
    await expectRefusal({ ...goodCall(), body }, { status: 400, code: -32600, says: '2025-03-26' });
    await expectRefusal({ body: `[${rpc('initialize', {}, 1)}]` }, { status: 400, code: -32600 });
  });

  verifies('ERA-1', 'an answer to a question that was never sent', async () => {
    const headers = { 'MCP-Protocol-Version': '2026-07-28' };
    await expectRefusal(
      { headers, body: '{"jsonrpc":"2.0","id":1,"result":{}}' },
      { status: 400, code: -32600 },
    );
  });

  verifies('ERA-1', 'another method of HTTP', async () => {
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
  verifies('ERA-5', 'in its headers', async () => {
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

  verifies('ERA-5', 'in a header that repeats an argument', async () => {
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

  verifies('ERA-1', 'in its revision', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    const call = modern('tools/list', {}, { meta });
    const sent = { ...call, headers: { ...call.headers, 'MCP-Protocol-Version': '2027-01-01' } };
    const { json } = await expectRefusal(sent, { status: 400, code: -32022 });
    expect(json.error?.data).toEqual({ supported: ['2026-07-28'], requested: '2027-01-01' });
    expect(json.id).toBe(1);
  });

  verifies('ERA-1', 'in what it says of its sender', async () => {
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

  verifies('ERA-1', 'in the method, which nobody knows or nobody knows any more', async () => {
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'no/such'])
      await expectRefusal(modern(method), { status: 404, code: -32601 });
  });
});

describe('a state that is not what was given out', () => {
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

  verifies(['ERA-2', 'SAFE-1'], 'is refused when it was tampered with', async () => {
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

  verifies(['ERA-2', 'SAFE-1'], 'is refused when it was used before, or for another call', async () => {
    const { requestState, inputResponses } = await parked();
    const other = asked({ requestState, inputResponses, arguments: { message: 'Another?' } });
    await expectRefusal(other, { status: 200, code: -32602 });
    expect((await attempt(asked({ requestState, inputResponses }))).text).toContain('Ann');
    await expectRefusal(asked({ requestState, inputResponses }), { status: 200, code: -32602 });
  });
});

interface Drip {
  readonly more: string;
  /** Milliseconds. */
  readonly every?: number;
}

describe('who takes their time', () => {
  const limits = { headers: 300, request: 600 };

  /** Of requests that never end: one in its headers, one in its body. */
  function beginnings(url: string, token: string): { head: string; body: string } {
    const head = `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\n`;
    const all = `${head}Authorization: Bearer ${token}\r\nAccept: */*\r\n`;
    return { head, body: `${all}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{` };
  }

  /** What comes back to somebody who sends one thing and then another, again and again, until the end. */
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

  verifies('SAFE-1', 'with the headers or the body is cut off, while others are served', async () => {
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

  verifies('SAFE-1', 'has 10 s for the headers and 30 s for the whole request, unless set', async () => {
    const seen: Pick<Server, 'headersTimeout' | 'requestTimeout'>[] = [];
    const note = (message: unknown): void => void seen.push((message as { server: Server }).server);
    subscribe('http.server.request.start', note);
    await using http = await serveTest({ echo: fixture('echo') });
    await send(http.url, goodCall());
    unsubscribe('http.server.request.start', note);
    expect(seen).toMatchObject([{ headersTimeout: 10_000, requestTimeout: 30_000 }]);
  });

  verifies.skipIf(process.platform === 'linux' ? undefined : 'reads the CPU from /proc')(
    'SAFE-1',
    'costs no more than others who are refused, however slowly it sends its 150 parts',
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

describe('what is malformed below', () => {
  async function raw(text: string): Promise<string> {
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('error', () => {}).end(text);
    await once(socket, 'close');
    return answer;
  }

  verifies('SAFE-1', 'two names for one place: refused; one name in two places: served', async () => {
    const { host } = new URL(weir.url);
    const health = (target: string, ...hosts: string[]): Promise<string> =>
      raw(
        `GET ${target} HTTP/1.1\r\n${hosts.map((name) => `Host: ${name}\r\n`).join('')}Connection: close\r\n\r\n`,
      );
    expect(await health('/healthz', host)).toMatch(/^HTTP\/1\.1 200 /u);
    for (const other of [host, 'evil.example'])
      expect(await health('/healthz', host, other)).toMatch(/ 400 [^]*The Host header is there twice/u);
    expect(await health(`http://${host}/healthz`, host)).toMatch(/^HTTP\/1\.1 200 /u);
    expect(await health('http://evil.example/healthz', host)).toMatch(/ 400 [^]*Name the same in both/u);
    expect(await health('http://evil.example/healthz', 'evil.example')).toMatch(/^HTTP\/1\.1 403 /u);
  });

  test('the address as a whole in the request line, as proxies write it', async () => {
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

  test('names without end are not repeated in full', async () => {
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

  test('two lengths, no host, a header without end: refused and closed', async () => {
    const { host } = new URL(weir.url);
    const both = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await raw(both)).toMatch(/^HTTP\/1\.1 400 /u);
    expect(await raw('POST /mcp HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /u);
    expect(await raw(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(
      / 431 /u,
    );
    expect((await attempt(goodCall())).status).toBe(200);
  });

  test('a session id that is not one of ours, a stream that nobody opened', async () => {
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
