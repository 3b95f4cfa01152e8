import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FileAnswer, type FileBody, PIECE_BYTES } from './file-answer.ts';
import type { FileServingConfig } from './file-serving-config.ts';
import { createFileServing, type FileServing, type ServedRequest } from './file-serving.ts';

/** A request of node:http, or of Express, which adds the path that the router is mounted under. */
export type FileRouterRequest = IncomingMessage & { readonly baseUrl?: string };

/** Serves files on a server of node:http, and as `app.use('/exports', router)` in Express. */
export type FileRouter = (
  request: FileRouterRequest,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Creates a router with a list of files at `GET /` and their bytes at `GET /:fileId`. An id is never a path, and every
 * file that is missing, expired or of another user is the same 404.
 */
export function createFileServingRouter(config: FileServingConfig): FileRouter {
  const serving = createFileServing(config);
  return (request, response, next) => {
    const { path, search } = splitUrl(request.url ?? '/');
    const below = pathBelowRouter(serving, request.baseUrl ?? '', path);
    if (below === undefined && next !== undefined) next();
    else void respond(serving, { request, response, below: below ?? OUTSIDE, search });
  };
}

/** Stands for a path outside of the prefix, on a server that has nothing else: a slash is not in any id. */
const OUTSIDE = '/';

/** Express cuts off the path that a router is mounted under. Behind a proxy, that may be another than the prefix. */
function pathBelowRouter(serving: FileServing, mounted: string, path: string): string | undefined {
  const isAbovePrefix = `${serving.prefix}/`.startsWith(`${mounted}/`);
  if (mounted !== '' && !isAbovePrefix) return path.slice(1);
  return serving.below(path === '/' && mounted !== '' ? mounted : `${mounted}${path}`);
}

/** Takes a target apart as it was sent: nothing is decoded or normalised, and an id needs neither. */
function splitUrl(url: string): { path: string; search: string } {
  const at = url.indexOf('?');
  return at < 0 ? { path: url, search: '' } : { path: url.slice(0, at), search: url.slice(at + 1) };
}

interface Exchange {
  readonly request: FileRouterRequest;
  readonly response: ServerResponse;
  readonly below: string;
  readonly search: string;
}

async function respond(serving: FileServing, { request, response, below, search }: Exchange): Promise<void> {
  const answer = await serving.answer(servedRequest(request), below, search);
  try {
    await send(answer, response, serving.limits.stallMs);
  } catch {
    // The headers promised more bytes, so only an end of the connection tells the client that they do not come.
    response.destroy();
  } finally {
    if (typeof answer.body === 'object') await answer.body.close().catch(() => undefined);
  }
}

async function send(
  { status, headers, body }: FileAnswer,
  response: ServerResponse,
  stallMs: number,
): Promise<void> {
  response.writeHead(status, headers);
  if (typeof body === 'object') await sendFile(body, response, stallMs);
  response.end(typeof body === 'string' ? body : undefined);
}

/** Sends a file through one buffer, so that a download of any length takes the same memory. */
async function sendFile(body: FileBody, response: ServerResponse, stallMs: number): Promise<void> {
  const newBuffer = (): Buffer => Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, body.left()));
  const stall = setTimeout(() => response.destroy(), stallMs);
  try {
    let buffer = newBuffer();
    while (body.left() > 0) {
      const length = await body.read(buffer);
      if (response.destroyed) throw gone();
      const isQueued = response.write(buffer.subarray(0, length));
      if (body.left() === 0) break;
      // Only a response that has drained has no use for the buffer any more.
      if (isQueued) buffer = newBuffer();
      else await drained(response);
      stall.refresh();
    }
  } finally {
    clearTimeout(stall);
  }
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      if (response.destroyed) reject(gone());
      else resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}

function gone(): Error {
  return new Error('The client closed the connection during a download');
}

function servedRequest(request: FileRouterRequest): ServedRequest {
  const { socket, headers, method = 'GET' } = request;
  return {
    method,
    header: (name) => [headers[name.toLowerCase()]].flat().join(', ') || undefined,
    incoming: request,
    end: { address: socket.localAddress, port: socket.localPort ?? 0, isEncrypted: 'encrypted' in socket },
  };
}
