import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ReadBuffer,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';

export interface StdioWireOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Time that requests in flight get after the end of stdin. */
  readonly closeTimeoutMs: number;
}

/** A transport over two streams; `closed` resolves at its end. */
export interface StdioWire extends Transport {
  readonly closed: Promise<void>;
}

/** Reads and writes lines of JSON. After the end of stdin it stays open until every request is answered. */
export function createStdioWire({ stdin, stdout, closeTimeoutMs }: StdioWireOptions): StdioWire {
  const lines = new ReadBuffer();
  const open = new Set<RequestId>();
  let isEnding = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let onClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    stdin.off('data', read).off('end', end).off('close', end).off('error', fail);
    if (stdin.listenerCount('data') === 0) stdin.pause();
    lines.clear();
    wire.onclose?.();
    await flushed(stdout);
    stdout.off('error', lose);
    onClosed();
  };
  const end = (): void => {
    if (isEnding || isClosed) return;
    isEnding = true;
    if (open.size === 0) return void close();
    timer = setTimeout(() => void close(), closeTimeoutMs);
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
    } catch (error) {
      lose(error as Error);
      return;
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
    if (isJSONRPCRequest(message)) {
      // Its answer comes at the end of the connection.
      if (message.method !== 'subscriptions/listen') open.add(message.id);
    } else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      settle((message.params as { requestId?: RequestId } | undefined)?.requestId);
    wire.onmessage?.(message);
  };
  const wire: StdioWire = {
    closed,
    async start() {
      stdin.on('data', read).on('end', end).on('close', end).on('error', fail);
      stdout.on('error', lose);
      if (stdin.readableEnded || stdin.destroyed) setImmediate(end);
    },
    async send(message) {
      if (isClosed || stdout.destroyed) throw new Error('The connection on stdio is closed');
      const isDrained = stdout.write(serializeMessage(message));
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) settle(message.id);
      if (!isDrained) await drained(stdout);
    },
    close,
  };
  return wire;
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
