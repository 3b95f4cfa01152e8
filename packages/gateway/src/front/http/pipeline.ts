import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { now } from '../../time/clock.ts';
import { accountOf, makeFlood } from './connection-account.ts';

/** Requests that may wait behind one of the same connection before no more are read from it. */
const MOST_READ = 16;
/** Requests that may wait at all: one chunk holds many that were read before the connection could be paused. */
const MOST_WAITING = 1000;
/** Bytes that a waiting request is charged with; Node keeps about so much for each. */
const REQUEST_BYTES = 2048;

/** New connections are parsed in slices for so long after one had many waiting requests. */
const FLOOD_MEMORY_MS = 10_000;

const waiting = new WeakMap<Duplex, number>();
let floodedUntil = 0;

/** Returns how many requests of a connection wait behind the one that is worked on. */
export function pipelinedCount(socket: Duplex): number {
  return waiting.get(socket) ?? 0;
}

/** Returns true where no more requests of a connection should be read. */
export function isPipelineFull(socket: Duplex): boolean {
  return pipelinedCount(socket) >= MOST_READ;
}

/** Returns true where a client has lately sent many requests at once. */
export function isPipelineFlooded(): boolean {
  return now() < floodedUntil;
}

/**
 * Works on a request when those before it on its connection are answered: Node emits no `close` for a response without a
 * socket. A connection with many waiting requests is paused, and closed where they are far too many.
 */
export function afterEarlierRequests(req: IncomingMessage, res: ServerResponse, work: () => void): void {
  if (res.socket !== null) return work();
  const { socket } = req;
  if (!waiting.has(socket)) closeWithoutStacks(socket);
  const count = pipelinedCount(socket) + 1;
  waiting.set(socket, count);
  if (count > MOST_WAITING) return void socket.destroy();
  if (count === MOST_READ) {
    socket.pause();
    floodedUntil = now() + FLOOD_MEMORY_MS;
  }
  const account = accountOf(socket);
  account.charge(REQUEST_BYTES);
  res.once('socket', () => {
    const left = pipelinedCount(socket) - 1;
    waiting.set(socket, left);
    account.release(REQUEST_BYTES);
    if (left === MOST_READ - 1) socket.resume();
    makeFlood(socket);
    work();
  });
}

/**
 * Lets the connection close without a long turn: Node creates an error with a stack for each waiting request, of which there may
 * be a thousand, and never shows them.
 */
function closeWithoutStacks(socket: Duplex): void {
  let limit: number;
  socket.prependOnceListener('close', () => {
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = limit;
  });
}
