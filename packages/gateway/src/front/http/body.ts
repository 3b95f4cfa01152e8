import type { IncomingMessage } from 'node:http';
import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import { Holding } from '../../wire/account.ts';
import { turns } from '../../wire/turns.ts';
import { accountOf, flowOf } from './connection-account.ts';
import type { Refusal } from './respond.ts';

export interface BodyHandlers {
  /** Does this work when it is the turn of a body of so many bytes; never where the client has left. */
  take(size: number, work: () => void): void;
  read(body: Buffer): void;
  refused(refusal: Refusal): void;
}

/** Reads a whole body; one that is too large is refused as soon as that is known. */
export function readBody(req: IncomingMessage, limit: number, on: BodyHandlers): void {
  if (Number(req.headers['content-length'] ?? 0) > limit) return on.refused(tooLarge(limit));
  const chunks: Buffer[] = [];
  // Most bodies come in one chunk, and wait for nothing.
  let kept: Holding | undefined;
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit && size - chunk.length <= limit) on.refused(tooLarge(limit));
    if (size > limit) return;
    if (chunks.push(chunk) === 1) return;
    kept ??= new Holding(accountOf(req.socket));
    kept.bytes = size;
    readInTurn(req, chunk.length);
  });
  const finish = (): void => {
    if (kept !== undefined) kept.bytes = 0;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
    // The request lives as long as its response, which may never be read.
    chunks.length = 0;
    on.read(body);
  };
  req.on('end', () => {
    if (size <= limit) on.take(size, finish);
    else if (kept !== undefined) kept.bytes = 0;
  });
}

/** Reads the next chunk of a large body when it is the turn of its client: Node would read megabytes of each at once. */
function readInTurn(req: IncomingMessage, bytes: number): void {
  const flow = flowOf(req.socket);
  if (turns.goesOn(flow)) return turns.spend(flow, 0, bytes);
  req.pause();
  turns.wait(flow, () => {
    // Counted before it is read, so that one turn does not let all connections go on.
    turns.spend(flow, 0, bytes);
    req.resume();
  });
}

/** Of what kind a POST must be, and what its sender must be able to read. */
export function checkKind(req: IncomingMessage): Refusal | undefined {
  const refusal = checkMessage(req);
  if (refusal !== undefined) return refusal;
  const { accept } = req.headers;
  return accept === BOTH || (accepts(accept, JSON_TYPE) && accepts(accept, EVENTS_TYPE))
    ? undefined
    : notAcceptable(`${JSON_TYPE} and ${EVENTS_TYPE}`);
}

/** Returns why the body of a POST is no message that can be read. */
export function checkMessage({ headers }: IncomingMessage): Refusal | undefined {
  const { 'content-type': type, 'content-encoding': encoding } = headers;
  if (type !== JSON_TYPE && !isJson(type)) return wrongType(type);
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return encoded(encoding);
  return undefined;
}

/** What the sender of a GET must be able to read. */
export function checkReader({ headers: { accept } }: IncomingMessage): Refusal | undefined {
  return accepts(accept, EVENTS_TYPE) ? undefined : notAcceptable(EVENTS_TYPE);
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';
/** As most clients write it. */
const BOTH = `${JSON_TYPE}, ${EVENTS_TYPE}`;

function isJson(type: string | undefined): boolean {
  return type !== undefined && type.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE;
}

function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return false;
  const anyOfKind = `${type.split('/', 1)[0] ?? ''}/*`;
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';', 1)[0]?.trim())
    .some((part) => part === type || part === anyOfKind || part === '*/*');
}

function tooLarge(limit: number): Refusal {
  const text = `The body is over the limit of ${limit} bytes. Send less at once.`;
  return { status: 413, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}

function wrongType(type: string | undefined): Refusal {
  const text = `Content-Type is ${type === undefined ? 'missing' : `'${quoted(type)}'`}; messages are sent as ${JSON_TYPE}.`;
  return { status: 415, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}

function encoded(encoding: string): Refusal {
  const text = `Content-Encoding is '${quoted(encoding)}'; messages are read only as they are. Send it without.`;
  const error = new RpcError(RpcErrorCode.INVALID_REQUEST, text);
  return { status: 415, error, headers: ['Accept-Encoding', 'identity'] };
}

function notAcceptable(types: string): Refusal {
  const text = `The Accept header must name ${types}: answers come as one or the other.`;
  return { status: 406, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}
