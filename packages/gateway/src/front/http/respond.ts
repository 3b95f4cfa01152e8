import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RpcError } from '../../errors.ts';
import { errorLine } from '../../wire/answer.ts';
import type { Line } from '../../wire/splice.ts';

/** Why a request is not served, and how that is said. */
export interface Refusal {
  readonly status: number;
  readonly error: RpcError;
  /** Name, value, name, value: Node takes them fastest so. */
  readonly headers?: readonly string[];
}

/** A body that nobody wants is read to its end up to this size, so that the answer reaches who still sends it. */
const LINGER = 16 * 1024 * 1024;

export function respondJson(
  res: ServerResponse,
  status: number,
  line: Line,
  headers: readonly string[] = [],
): void {
  const type = ['Content-Type', 'application/json', 'Content-Length', String(sizeOf(line))];
  res.writeHead(status, headers.length === 0 ? type : [...type, ...headers]);
  if (typeof line === 'string') return void res.end(line, 'latin1');
  writeParts(res, line);
  res.end();
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
  { status, error, headers = [] }: Refusal,
  id?: string,
): void {
  respondJson(res, status, errorLine(id, error), lingers(req) ? headers : [...headers, 'Connection', 'close']);
}

/** False for a body that may go on and on. */
function lingers({ complete, headers }: IncomingMessage): boolean {
  if (complete) return true;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= LINGER;
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
