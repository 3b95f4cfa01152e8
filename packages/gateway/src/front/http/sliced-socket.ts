import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { turns } from '../../wire/turns.ts';
import { flowOf, makeFlood, giveOwnShare, shareWithNewcomers } from './connection-account.ts';
import { isPipelineFlooded, isPipelineFull, pipelinedCount } from './pipeline.ts';

/** Bytes that are parsed at once while requests wait: one or two of a common size, twenty of the smallest. */
const LEAST = 1024;
/** The same where none waits, as in a large body. Node reads so much from a socket at once. */
const MOST: number = 64 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

type Written = (error?: Error | null) => void;

/**
 * Tells of each new connection before it is read. While clients send many requests at once, new connections are parsed in slices,
 * and have the share of one client together until their first answer: who floods the gateway connects again and again.
 */
export function onConnection(server: Server, opened: (connection: Duplex) => void): void {
  // Node's own listener takes any stream, but stands before all others: it is called by ours instead.
  const [read] = server.listeners('connection') as ((this: Server, connection: Duplex) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    const connection = isPipelineFlooded() ? new SlicedSocket(socket) : socket;
    opened(connection);
    if (connection !== socket) shareWithNewcomers(connection);
    read?.call(server, connection);
  });
}

/**
 * A connection whose input is parsed in slices. Node's server parses all that it has read from a socket, up to 1,300 requests in
 * 64 KiB, and keeps objects for each of them. Costs some microseconds a request, so that only connections that may do that have it.
 */
class SlicedSocket extends Duplex {
  readonly #socket: Socket;
  #unparsed: Buffer = NOTHING;
  #size = LEAST;
  #isWaiting = false;
  /** True where nothing is parsed, because too many requests wait. */
  #isFull = false;
  #isAnswered = false;

  constructor(socket: Socket) {
    super({ allowHalfOpen: true, decodeStrings: false });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      socket.pause();
      this.#unparsed = chunk;
      if (this.#isAnswered && !this.#hasWaiting) giveOwnShare(this);
      this.#parse();
    });
    socket.once('end', () => this.push(null));
    socket.on('timeout', () => this.emit('timeout'));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }

  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds);
    return this;
  }

  override _read(): void {
    if (this.#unparsed.length === 0) this.#socket.resume();
    else if (this.#hasWaiting) this.#parseInTurn();
    else this.#parse();
  }

  /** Called when fewer requests wait, too. A pause would not keep them waiting: Node resumes a connection with each request. */
  override resume(): this {
    super.resume();
    if (this.#isFull) this.#parseInTurn();
    return this;
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, written: Written): void {
    this.#isAnswered = true;
    this.#socket.write(chunk, encoding, written);
  }

  override _writev(chunks: { chunk: string | Buffer; encoding: BufferEncoding }[], written: Written): void {
    this.#isAnswered = true;
    this.#socket.cork();
    const last = chunks.pop();
    for (const { chunk, encoding } of chunks) this.#socket.write(chunk, encoding);
    if (last !== undefined) this.#socket.write(last.chunk, last.encoding, written);
    this.#socket.uncork();
  }

  override _final(ended: () => void): void {
    this.#socket.end(ended);
  }

  override _destroy(error: Error | null, destroyed: Written): void {
    this.#socket.destroy();
    destroyed(error);
  }

  get #hasWaiting(): boolean {
    return pipelinedCount(this) > 0;
  }

  #parse(): void {
    const slice = this.#unparsed.subarray(0, this.#size);
    this.#unparsed = this.#unparsed.subarray(this.#size);
    const goesOn = this.push(slice);
    this.#size = this.#hasWaiting ? LEAST : Math.min(2 * this.#size, MOST);
    if (goesOn) this._read();
  }

  #parseInTurn(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    turns.wait(flowOf(this), () => {
      this.#isWaiting = false;
      // The mark may have expired while it waited, because floods among floods do not rest.
      makeFlood(this);
      this.#isFull = isPipelineFull(this);
      if (!this.destroyed && !this.#isFull) this.#parse();
    });
  }
}
