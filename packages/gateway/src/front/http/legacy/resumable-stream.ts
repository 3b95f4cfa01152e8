import type { Line } from '../../../wire/json/splice.ts';
import type { Pause } from '../../../wire/peer.ts';
import { EventStream } from '../event-stream.ts';
import type { HeartbeatListener, Heartbeat } from '../heartbeat.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';
import type { EventStore } from './event-store.ts';

export interface ResumableStreamOptions {
  /** The stream's number in its session. */
  readonly number: number;
  readonly store: EventStore;
  readonly heartbeat: Heartbeat;
  /** An event without data at the start; clients of older revisions stumble over it. */
  readonly isPrimed: boolean;
}

/** One stream of a session: it outlives the connections that carry it, and what is sent meanwhile is kept. */
export class ResumableStream implements HeartbeatListener {
  readonly isAwaited = false;
  readonly #options: ResumableStreamOptions;
  #count = 0;
  /** The last event that was written to a connection. */
  #written = 0;
  #stream: EventStream | undefined;
  #beatNumber: number | undefined;
  /** Delay during which the client is disconnected on purpose. */
  #pause: Pause | undefined;

  constructor(options: ResumableStreamOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#stream !== undefined;
  }

  get backlog(): number {
    return this.#stream?.backlog ?? 0;
  }

  /** Continues on this response, after the given event or with the events that were not sent yet. */
  attach(res: OutgoingResponse, after: number = this.#written): void {
    const { number, store, heartbeat, isPrimed } = this.#options;
    // A client that comes twice has lost the first connection, though we may not know yet.
    this.release();
    const stream = new EventStream(res);
    this.#stream = stream;
    this.#beatNumber = heartbeat.add(this);
    res.onClose(() => this.#closed(stream));
    if (isPrimed) stream.prime(`${number}_${after}`);
    else stream.comment();
    for (const event of store.after(number, after)) stream.event(event.line, `${number}_${event.number}`);
    this.#written = this.#count;
    this.#endPause();
  }

  push(line: Line): void {
    const { number, store } = this.#options;
    this.#count++;
    store.add(number, this.#count, line);
    if (this.#stream === undefined) return;
    this.#written = this.#count;
    this.#stream.event(line, `${number}_${this.#count}`);
  }

  /** Ends the connection, not the stream: its client may come back for the rest. */
  release(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#detach();
    stream.end();
  }

  /** Ends the connection until the client comes back for what takes its time. */
  suspend(pause: Pause): void {
    this.#stream?.retry(pause.length);
    this.release();
    this.#pause = pause;
  }

  beat(): void {
    this.#stream?.beat();
  }

  #endPause(): void {
    const pause = this.#pause;
    this.#pause = undefined;
    pause?.end();
  }

  #closed(stream: EventStream): void {
    if (this.#stream === stream) this.#detach();
  }

  #detach(): void {
    this.#stream = undefined;
    if (this.#beatNumber !== undefined) this.#options.heartbeat.remove(this.#beatNumber);
    this.#beatNumber = undefined;
  }
}
