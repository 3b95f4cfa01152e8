import type { IncomingMessage, ServerResponse } from 'node:http';
import { RpcError, RpcErrorCode } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { errorLine } from '../../wire/answer.ts';
import type { Line } from '../../wire/json/splice.ts';
import { spend } from '../../wire/slices.ts';
import { chargeUnread } from './connection-account.ts';

/** Status and error of a request that is not served. */
export interface HttpRefusal {
  readonly status: number;
  readonly error: RpcError;
  /** Name, value, name, value: Node takes them fastest so. */
  readonly headers?: readonly string[];
}

/** Bytes of a refused body that are read and discarded, so that the answer reaches a client that is still sending. */
const MOST_DISCARDED = 16 * 1024 * 1024;

export function respondJson(
  res: ServerResponse,
  status: number,
  line: Line,
  headers: readonly string[] = [],
): void {
  const size = sizeOf(line);
  spend(0, size);
  const own = jsonHeaders(size);
  res.writeHead(status, headers.length === 0 ? own : [...own, ...headers]);
  if (typeof line === 'string') res.end(line, 'latin1');
  else {
    writeParts(res, line);
    res.end();
  }
  chargeUnread(res);
}

/** Closes the connection after an internal error, which must not end the others. */
export function closeAfterError(res: ServerResponse, error: Error, log: Log): void {
  log.error(`Internal error while handling an HTTP request: ${error.stack ?? error.message}`);
  res.destroy();
}

export function methodNotAllowed(method: string | undefined, allowed: string): HttpRefusal {
  const error = new RpcError(
    RpcErrorCode.INVALID_REQUEST,
    `${method ?? ''} is not allowed here. Use ${allowed}.`,
  );
  return { status: 405, error, headers: ['Allow', allowed] };
}

/** An answer without a body. */
export function respondEmpty(res: ServerResponse, status: number, headers: readonly string[] = []): void {
  res.writeHead(status, ['Content-Length', '0', ...headers]);
  res.end();
}

/** Says why, as a JSON-RPC error; under the id of the request where that is known. */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  { status, error, headers = [] }: HttpRefusal,
  id?: string,
): void {
  const line = errorLine(id, error);
  const length = Number(req.headers['content-length'] ?? 0);
  const isStillComing = !req.complete && (length > 0 || req.headers['transfer-encoding'] !== undefined);
  if (!isStillComing) return respondJson(res, status, line, headers);
  if (length > MOST_DISCARDED || waitsForContinue(req))
    return respondJson(res, status, line, [...headers, 'Connection', 'close']);
  res.writeHead(status, [...jsonHeaders(sizeOf(line)), ...headers]);
  res.write(line, 'latin1');
  chargeUnread(res);
  discard(req, () => res.end());
}

/** Returns whether the client sends its body only once it is told to go on. */
export function waitsForContinue({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersionMinor > 0;
}

/** A connection that is closed under a client which still sends would take the answer with it. */
function discard(req: IncomingMessage, done: () => void): void {
  let size = 0;
  req.once('close', done).once('end', done);
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MOST_DISCARDED) req.destroy();
  });
}

function jsonHeaders(size: number): string[] {
  return ['Content-Type', 'application/json', 'Content-Length', String(size)];
}

export function sizeOf(line: Line): number {
  if (typeof line === 'string') return line.length;
  let size = 0;
  for (const part of line) size += part.length;
  return size;
}

/** All in one packet where they fit. */
export function writeParts(res: ServerResponse, parts: readonly (string | Buffer)[]): void {
  res.cork();
  for (const part of parts) {
    if (typeof part === 'string') res.write(part, 'latin1');
    else res.write(part);
  }
  res.uncork();
}
