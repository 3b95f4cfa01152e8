import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { CALLBACK_HEADERS, type CallbackAnswer, NOT_FOUND, WRONG_HOST } from './callback-page.ts';

export interface CallbackListener {
  readonly redirectUri: string;
  readonly close: () => void;
}

/**
 * Answers a callback; undefined for one that belongs to no sign-in, after which the listener goes on waiting. `isSent`
 * resolves once the browser has the answer, or has gone.
 */
export type AnswerCallback = (
  search: URLSearchParams,
  isSent: Promise<unknown>,
) => Promise<CallbackAnswer> | undefined;

/** Listens on 127.0.0.1 on a free port (RFC 8252, 7.3) for the browser to return. Does not keep the process alive. */
export async function listenForCallback(
  path: string | undefined,
  answerCallback: AnswerCallback,
): Promise<CallbackListener> {
  const callbackPath = path ?? `/${randomBytes(16).toString('base64url')}`;
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    void respond(request, response, callbackPath, answerCallback);
  });
  // Browsers open connections ahead, which would keep the process alive.
  server.on('connection', (socket) => void socket.unref());
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = (): void => {
    server.close();
    // Connections without a request do not count as idle.
    server.closeAllConnections();
  };
  return { redirectUri: `http://127.0.0.1:${port}${callbackPath}`, close };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  callbackPath: string,
  answerCallback: AnswerCallback,
): Promise<void> {
  const [path, ...search] = (request.url ?? '').split('?');
  const isCallback = request.method === 'GET' && path === callbackPath && search.length === 1;
  const answer = async (): Promise<CallbackAnswer | undefined> => {
    if (!namesThisListener(request)) return WRONG_HOST;
    return isCallback
      ? await answerCallback(new URLSearchParams(search[0]), once(response, 'close'))
      : undefined;
  };
  const { status, page } = (await answer()) ?? NOT_FOUND;
  response.writeHead(status, { ...CALLBACK_HEADERS, connection: 'close' }).end(page);
}

function namesThisListener({ headers, socket }: IncomingMessage): boolean {
  const port = String(socket.localPort);
  return headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`;
}
