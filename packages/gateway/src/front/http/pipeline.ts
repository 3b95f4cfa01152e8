import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { turns } from '../../wire/turns.ts';
import { accountOf, flowOf } from './connection-account.ts';

/** Requests that may wait behind one of the same connection before no more are read from it. */
const MOST_READ = 16;
/** Requests that may wait at all: one chunk holds many that were read before the connection could be paused. */
const MOST_WAITING = 1000;
/** Bytes that a waiting request is charged with; Node keeps about so much for each. */
const REQUEST_BYTES = 2048;

const waiting = new WeakMap<Socket, number>();

/**
 * Works on a request when those before it on its connection are answered: Node emits no `close` for a response without a
 * socket. A connection with many waiting requests is paused, and closed where they are far too many.
 */
export function inTurn(req: IncomingMessage, res: ServerResponse, work: () => void): void {
  if (res.socket !== null) return work();
  const { socket } = req;
  if (!waiting.has(socket)) closeQuickly(socket);
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count > MOST_WAITING) return void socket.destroy();
  if (count === MOST_READ) socket.pause();
  const account = accountOf(socket);
  account.charge(REQUEST_BYTES);
  res.once('socket', () => {
    const left = (waiting.get(socket) ?? 1) - 1;
    waiting.set(socket, left);
    account.release(REQUEST_BYTES);
    if (left === MOST_READ - 1) socket.resume();
    turns.makeBusy(flowOf(socket));
    work();
  });
}

/**
 * Lets the connection close without a long turn: Node makes an error with a stack for each request that waits on it, of which there
 * may be a thousand, and nobody sees them.
 */
function closeQuickly(socket: Socket): void {
  let limit: number;
  socket.prependOnceListener('close', () => {
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = limit;
  });
}
