import { once } from 'node:events';
// Errors between the gateway and a remote server: only the affected call fails, with an error that names the server.
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { runUntilFailed, type Era } from '../../support/harness.ts';
import { serveInProcess, type InProcess } from '../../support/in-process.ts';
import {
  answerText,
  openEvents,
  sendJson,
  serveHttp,
  toolServer,
  type Handler,
} from '../../support/remote-server.ts';
import { verifies } from '../../verifies.ts';

const ERAS: readonly Era[] = ['modern', 'legacy'];

/** The error of a call that the server answers like this; another call right after must work. */
async function errorOf(
  era: Era,
  misbehave: Handler,
  options: { maxMessageSize?: number } = {},
): Promise<{ code: number; message: string; data?: unknown }> {
  let calls = 0;
  const handler = toolServer(era, (seen, response) => {
    if (++calls === 1) return misbehave(seen, response);
    return sendJson(response, answerText(seen.message.id, 'fine'));
  });
  await using remote = await serveHttp(handler);
  await using weir = serveInProcess({ far: { url: remote.url } }, options);
  await weir.tools();
  const { error } = await weir.callTool('far:tool');
  await expectFine(weir);
  if (error === undefined) throw new Error('The call did not fail');
  return { ...error, message: error.message.replaceAll(String(remote.port), 'PORT') };
}

async function expectFine(weir: InProcess): Promise<void> {
  expect((await weir.callTool('far:tool')).result).toMatchObject({ content: [{ text: 'fine' }] });
}

function page(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
}

describe.each(ERAS)('an error of a remote server of the %s era', (era) => {
  verifies('MANAGED-4', 'a remote JSON-RPC error passes unchanged, whatever the HTTP status', async () => {
    const error = { code: -32601, message: 'No such tool', data: { big: 1 } };
    for (const id of ['own', null, undefined])
      for (const status of [400, 404, 500, 200]) {
        // In a session, a 404 that does not say which request it means is about the session.
        if (era === 'legacy' && status === 404 && id !== 'own') continue;
        const found = await errorOf(era, ({ message }, response) =>
          sendJson(
            response,
            { jsonrpc: '2.0', ...(id !== undefined && { id: id && message.id }), error },
            status,
          ),
        );
        expect(found).toEqual(error);
      }
  });

  verifies('MANAGED-4', 'an HTTP status without a JSON-RPC error becomes a clear error', async () => {
    const told = async (status: number): Promise<string> =>
      (await errorOf(era, (_, response) => page(response, status))).message;
    expect(await told(401)).toBe(
      'Server \'far\' answered tools/call with HTTP 401 Unauthorized; check "headers" in its entry',
    );
    expect(await told(403)).toBe(
      'Server \'far\' answered tools/call with HTTP 403 Forbidden; check "headers" in its entry',
    );
    expect(await told(503)).toBe(
      "Server 'far' answered tools/call with HTTP 503 Service Unavailable; try again, or check the log of that server",
    );
    if (era === 'modern')
      expect(await told(404)).toBe(
        'Server \'far\' answered tools/call with HTTP 404 Not Found; check "url" in its entry',
      );
  });

  verifies('MANAGED-4', 'an invalid HTTP answer becomes a clear error', async () => {
    const told = async (misbehave: Handler): Promise<string> => (await errorOf(era, misbehave)).message;
    expect(await told((_, response) => page(response, 200))).toBe(
      'Server \'far\' answered tools/call with text/html instead of JSON or an event stream; check "url" in its entry',
    );
    expect(await told((_, response) => response.writeHead(202).end())).toBe(
      "Server 'far' answered tools/call with HTTP 202 and no result",
    );
    expect(await told((_, response) => sendJson(response, 'no JSON'))).toBe(
      "Server 'far' answered tools/call with something that is not a JSON-RPC message",
    );
    expect(await told((_, response) => sendJson(response, answerText(987, 'of another')))).toBe(
      "Server 'far' answered tools/call with a wrong id",
    );
    expect(await told((_, response) => response.destroy())).toBe(
      "Server 'far' closed the connection at http://127.0.0.1:PORT before it answered (ECONNRESET)",
    );
    expect(
      await told((_, response) =>
        response.socket?.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
        ),
      ),
    ).toBe(
      "Server 'far' answered at http://127.0.0.1:PORT with something that is not HTTP: it switches to another protocol",
    );
    expect(await told((_, response) => openEvents(response).end())).toBe(
      "Server 'far' ended its answer to tools/call before the result came",
    );
  });

  verifies('MANAGED-4', 'a stream that ends without the requested answer fails the call', async () => {
    const { message } = await errorOf(era, (_, response) => {
      const events = openEvents(response);
      events.send('noise');
      events.send(answerText(987, 'of another'));
      events.end();
    });
    expect(message).toBe("Server 'far' ended its answer to tools/call before the result came");
  });

  verifies('MANAGED-4', 'the gateway follows one redirect within the same origin', async () => {
    const told = async (status: number, location: string): Promise<string> =>
      (await errorOf(era, (_, response) => response.writeHead(status, { location }).end())).message;
    expect(await told(307, 'https://elsewhere.example/mcp?secret=1')).toBe(
      'Server \'far\' redirects to https://elsewhere.example (HTTP 307), which Weir does not follow; write the right address as "url" in its entry',
    );
    expect(await told(302, '/other')).toContain(
      'redirects to http://127.0.0.1:PORT/… (HTTP 302), which Weir does not follow',
    );
    let calls = 0;
    const handler = toolServer(era, ({ message }, response) =>
      ++calls % 2 === 1
        ? response.writeHead(307, { location: '/mcp/' }).end()
        : sendJson(response, answerText(message.id, 'fine')),
    );
    await using remote = await serveHttp(handler);
    await using weir = serveInProcess({ far: { url: remote.url } });
    await weir.tools();
    await expectFine(weir);
    expect(calls).toBe(2);
  });

  verifies.slow(
    'MANAGED-4',
    'a remote answer over the size limit fails its own call, as JSON and as an event',
    async () => {
      const long = 'x'.repeat(100 * 1024 * 1024);
      for (const misbehave of [
        ({ message }, response) => sendJson(response, answerText(message.id, long)),
        ({ message }, response) => {
          const events = openEvents(response);
          events.send(answerText(message.id, long));
          events.end();
        },
      ] satisfies Handler[]) {
        const { message } = await errorOf(era, misbehave, { maxMessageSize: 1024 * 1024 });
        expect(message).toMatch(
          /^Server 'far' sent a message of 1048\d{5} bytes, over the limit of 1048576; raise/,
        );
      }
    },
  );

  verifies('MANAGED-4', 'any other remote message over the size limit fails its call', async () => {
    const long = 'x'.repeat(2 * 1024 * 1024);
    const answersAnother = { ...answerText(987, long) };
    const asks = { jsonrpc: '2.0', id: 'question', method: 'ping', params: { long } };
    const asEvent =
      (message: unknown): Handler =>
      (_, response) => {
        const events = openEvents(response);
        events.send(message);
        events.end();
      };
    const told = async (misbehave: Handler): Promise<string> =>
      (await errorOf(era, misbehave, { maxMessageSize: 1024 * 1024 })).message;
    for (const body of [long, answersAnother, asks, [asks], { jsonrpc: '2.0', id: null, error: { long } }])
      expect(await told((_, response) => sendJson(response, body))).toMatch(
        /^Server 'far' sent a message of 2097\d{3} bytes, over the limit of 1048576; raise/,
      );
    for (const event of [long, answersAnother])
      expect(await told(asEvent(event))).toBe(
        "Server 'far' ended its answer to tools/call before the result came",
      );
    expect(await told(asEvent({ jsonrpc: '2.0', id: null, error: { long } }))).toContain('over the limit');
  });

  verifies('MANAGED-4', 'an endless line of a remote server does not block other calls', async () => {
    let timer: NodeJS.Timeout | undefined;
    let calls = 0;
    const handler = toolServer(era, ({ message, hungUp }, response) => {
      if (++calls > 1) return sendJson(response, answerText(message.id, 'fine'));
      openEvents(response);
      response.write('data: ');
      timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 5);
      return hungUp.then(() => clearInterval(timer));
    });
    await using remote = await serveHttp(handler);
    await using weir = serveInProcess({ far: { url: remote.url } }, { maxMessageSize: 1024 * 1024 });
    await weir.tools();
    weir.send({ id: 'endless', method: 'tools/call', params: { name: 'far:tool' } });
    await expectFine(weir);
    weir.notify('notifications/cancelled', { requestId: 'endless' });
    await remote.posted('tools/call')[0]?.hungUp;
  });
});

describe.concurrent('a server that cannot be reached', () => {
  verifies.slow(
    'MANAGED-4',
    'the start fails for an unreachable server, with its address and what to do',
    async () => {
      const told = async (url: string): Promise<string> => {
        const { stderr, code } = await runUntilFailed({ far: { url } });
        expect(code).toBe(1);
        return stderr.replace(/127\.0\.0\.1:\d+/, 'ADDRESS').trim();
      };
      const closed = await serveHttp(() => {});
      await closed.close();
      expect(await told(closed.url)).toContain(
        'Server \'far\' failed during initialization: it accepts no connections at http://ADDRESS; check that it runs there and that "url" in its entry is right (ECONNREFUSED)',
      );
      expect(await told('http://no-such-host.invalid/mcp')).toMatch(
        /it cannot be found: (?:http:\/\/no-such-host\.invalid is not known to DNS|DNS did not answer for http:\/\/no-such-host\.invalid)/,
      );
      const plain = await serveHttp(() => {});
      expect(await told(plain.url.replace('http:', 'https:'))).toContain(
        'it does not speak TLS at https://ADDRESS',
      );
      await plain.close();
      const noise = createTcpServer((socket) => socket.end('220 mail\r\n')).listen(0, '127.0.0.1');
      await once(noise, 'listening');
      expect(await told(`http://127.0.0.1:${(noise.address() as AddressInfo).port}/mcp`)).toContain(
        'it answered at http://ADDRESS with something that is not HTTP',
      );
      noise.close();
    },
  );

  verifies(
    'MANAGED-4',
    'the error for an address without MCP has the answers to both transports',
    async () => {
      await using remote = await serveHttp((_, response) => page(response, 404));
      const { stderr } = await runUntilFailed({ far: { url: remote.url } });
      expect(stderr).toContain(
        'it answered initialize with HTTP 404 Not Found; check "url" in its entry; and as an HTTP+SSE server it answered GET with HTTP 404 Not Found',
      );
    },
  );

  verifies('MANAGED-4', 'the error for a refused token names "headers" and hides the token', async () => {
    await using remote = await serveHttp((_, response) => response.writeHead(401).end());
    const { stderr } = await runUntilFailed({
      far: { url: remote.url, headers: { Authorization: 'Bearer hush' } },
    });
    expect(stderr).toContain(
      'it answered initialize with HTTP 401 Unauthorized; check "headers" in its entry',
    );
    expect(stderr).not.toContain('hush');
  });

  verifies('MANAGED-4', 'the gateway refuses a foreign endpoint of an HTTP+SSE server', async () => {
    await using remote = await serveHttp((_, response) => {
      openEvents(response);
      response.write('event: endpoint\ndata: https://elsewhere.example/messages\n\n');
    });
    const { stderr } = await runUntilFailed({ far: { sseConfig: { url: remote.url } } });
    expect(stderr).toContain('it names an address to post to on another origin, which Weir does not use');
  });
});
