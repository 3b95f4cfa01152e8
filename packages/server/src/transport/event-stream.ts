import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { EventSink } from './exchange.ts';

/** A stream of messages that a client can take up again by Last-Event-ID. */
export interface EventStream {
  /** Place of the stream in its session; its events are `<number>:<count>`. */
  readonly number: number;
  /** Count of the last event. */
  last: number;
  /** Events that were not delivered for certain, oldest first. */
  kept: KeptEvent[];
  /** Characters of the kept events. */
  keptSize: number;
  /** The connection, while there is one. */
  sink: EventSink | undefined;
  /** All of its messages are written. */
  isComplete: boolean;
}

interface KeptEvent {
  readonly count: number;
  readonly text: string;
}

/** Characters kept for a client that is away. A longer absence loses the oldest events. */
const MOST_KEPT = 256 * 1024;

/** Time that a client waits before it takes a stream up again. */
const RETRY_MS = 1000;

export function createEventStream(number: number): EventStream {
  return { number, last: 0, kept: [], keptSize: 0, sink: undefined, isComplete: false };
}

/** Sends the event without a message that gives the client an id to resume from. */
export function primeStream(stream: EventStream): void {
  stream.sink?.write(`id: ${stream.number}:${stream.last}\nretry: ${RETRY_MS}\ndata: \n\n`);
}

/** Sends a message, and keeps it as long as it may have to be sent again. */
export function writeMessage(stream: EventStream, message: JSONRPCMessage): void {
  const count = ++stream.last;
  const text = `event: message\nid: ${stream.number}:${count}\ndata: ${JSON.stringify(message)}\n\n`;
  stream.kept.push({ count, text });
  stream.keptSize += text.length;
  // The last one is kept whatever its size, because it is the answer or nothing more is known of it.
  while (stream.keptSize > MOST_KEPT && stream.kept.length > 1) dropOldest(stream);
  stream.sink?.write(text);
}

/** Drops all kept events but the last ones. */
export function keepLast(stream: EventStream, most: number): void {
  while (stream.kept.length > most) dropOldest(stream);
}

function dropOldest(stream: EventStream): void {
  stream.keptSize -= stream.kept.shift()?.text.length ?? stream.keptSize;
}

/** Connects a client that has seen the events up to `seen`. */
export function resumeStream(stream: EventStream, sink: EventSink, seen: number): void {
  stream.sink?.end();
  stream.sink = sink;
  while ((stream.kept[0]?.count ?? Infinity) <= seen) dropOldest(stream);
  for (const { text } of stream.kept) sink.write(text);
}

/** Ends the connection; the client may come back. */
export function disconnectStream(stream: EventStream): void {
  stream.sink?.end();
  stream.sink = undefined;
}

/** Reads the number of a stream and the count of an event from a Last-Event-ID. */
export function parseEventId(id: string): { number: number; count: number } | undefined {
  const [, number, count] = /^(\d{1,15}):(\d{1,15})$/.exec(id) ?? [];
  return number === undefined || count === undefined
    ? undefined
    : { number: Number(number), count: Number(count) };
}
