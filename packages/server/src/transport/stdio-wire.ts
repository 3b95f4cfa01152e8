import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  ReadBuffer,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';

export interface StdioWireOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Time that requests in flight and unread answers get at the end. */
  readonly closeTimeoutMs: number;
  readonly logger: Logger;
}

/** A transport over two streams; `closed` resolves at its end. */
export interface StdioWire extends Transport {
  readonly closed: Promise<void>;
  /** Starts the time after which the connection ends, whatever is in flight or unread. */
  readonly startLimit: () => void;
}

/** Bytes of the longest message; a longer one cannot be answered, because its id is not known. */
const MOST_BYTES = 10 * 1024 * 1024;
/** Time for the answers that were written last. */
const LAST_BYTES_MS = 250;
const NEWLINE: Buffer = Buffer.from('\n');
const DUPLICATE_ID = {
  code: -32_600,
  message: 'Invalid Request: a request with this id is still being answered',
};

/** Reads and writes lines of JSON. After the end of stdin it stays open until every request is answered. */
export function createStdioWire({ stdin, stdout, closeTimeoutMs, logger }: StdioWireOptions): StdioWire {
  const lines = new ReadBuffer({ maxBufferSize: MOST_BYTES });
  const open = new Set<RequestId>();
  let isEnding = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let onClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const startLimit = (): void => {
    timer ??= setTimeout(() => {
      timer = setTimeout(giveUp, LAST_BYTES_MS);
      void close();
    }, closeTimeoutMs);
  };
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    startLimit();
    stdin.off('data', read).off('end', end).off('close', end).off('error', fail);
    if (stdin.listenerCount('data') === 0) stdin.pause();
    lines.clear();
    wire.onclose?.();
    await Promise.race([flushed(stdout), givenUp]);
    clearTimeout(timer);
    if (stdout.writableLength > 0) abandon(stdout);
    stdout.off('error', lose);
    onClosed();
  };
  const end = (): void => {
    if (isEnding || isClosed) return;
    isEnding = true;
    // The last line may lack its end.
    read(NEWLINE);
    startLimit();
    if (open.size === 0) void close();
  };
  const fail = (error: Error): void => wire.onerror?.(error);
  /** Closes at once, because answers have nowhere to go any more. */
  const lose = (error: Error): void => {
    fail(error);
    void close();
  };
  const settle = (id: RequestId | undefined): void => {
    if (id === undefined || !open.delete(id)) return;
    if (isEnding && open.size === 0) setImmediate(() => void close());
  };
  const read = (chunk: Buffer): void => {
    try {
      lines.append(chunk);
    } catch {
      logger.error(
        `A message on stdin is longer than ${MOST_BYTES} bytes (10 MiB): the connection is closed`,
      );
      return void close();
    }
    for (;;) {
      try {
        const message = lines.readMessage();
        if (message === null || isClosed) return;
        receive(message);
      } catch (error) {
        fail(error as Error);
      }
    }
  };
  const receive = (message: JSONRPCMessage): void => {
    // The buffer has validated it: the guards of the SDK would do so once more.
    if (isRequest(message)) {
      if (open.has(message.id)) return refuseDuplicate(message.id);
      // Its answer comes at the end of the connection.
      if (message.method !== 'subscriptions/listen') open.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled')
      settle((message.params as { requestId?: RequestId } | undefined)?.requestId);
    wire.onmessage?.(message);
  };
  /** Leaves the first request with this id open. */
  const refuseDuplicate = (id: RequestId): void => {
    if (!stdout.destroyed) stdout.write(serializeMessage({ jsonrpc: '2.0', id, error: DUPLICATE_ID }));
  };
  const wire: StdioWire = {
    closed,
    startLimit,
    async start() {
      stdin.on('data', read).on('end', end).on('close', end).on('error', fail);
      stdout.on('error', lose);
      if (stdin.readableEnded || stdin.destroyed) setImmediate(end);
    },
    async send(message) {
      if (isClosed || stdout.destroyed) throw new Error('The connection on stdio is closed');
      const isDrained = stdout.write(serializeMessage(message));
      if (!('method' in message)) settle(message.id);
      if (!isDrained) await drained(stdout);
    },
    close,
  };
  return wire;
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('error', done);
      resolve();
    };
    stream.on('drain', done).on('close', done).on('error', done);
  });
}

/** Resolves when everything that was written has been handed over. */
function flushed(stream: Writable): Promise<void> {
  return stream.writableLength === 0 || stream.destroyed ? Promise.resolve() : drained(stream);
}

/** Drops what waits to be read, because a write that is not over keeps the process running. */
function abandon(stream: Writable): void {
  // Node's own stdout is a socket whose `_destroy` does nothing; the one of its class closes the pipe.
  if (stream instanceof Socket) Reflect.deleteProperty(stream, '_destroy');
  stream.destroy();
}
