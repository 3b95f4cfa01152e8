import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { Oversized } from '../../wire/oversized.ts';
import type { ChunkReader } from '../../wire/sliced-input.ts';
import { SseParser, type SseEvent } from './sse-parser.ts';

function push(reader: ChunkReader, chunk: Buffer): void {
  reader.begin(chunk);
  while (reader.next());
}

const LIMIT = 1024;

interface Read {
  events: { type: string; data: string; id: string | undefined }[];
  oversized: Oversized[];
  retries: number[];
}

function read(chunks: readonly Buffer[], limit = LIMIT): Read {
  const found: Read = { events: [], oversized: [], retries: [] };
  const parser = new SseParser(limit, {
    event: ({ type, data, id }: SseEvent) => found.events.push({ type, data: data.toString('utf8'), id }),
    oversized: (data) => found.oversized.push(data),
    retry: (milliseconds) => found.retries.push(milliseconds),
  });
  for (const chunk of chunks) push(parser, chunk);
  return found;
}

const readText = (text: string, limit = LIMIT): Read => read([Buffer.from(text)], limit);

/** Cuts at these places, counted from the front. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe('SSE events', () => {
  test('the SSE parser reads data, type and id of an event', () => {
    expect(readText('event: endpoint\nid: 7\ndata: /messages\n\n').events).toEqual([
      { type: 'endpoint', data: '/messages', id: '7' },
    ]);
  });

  test('the SSE parser joins lines of data and ignores comments and unknown fields', () => {
    expect(readText(': hello\ndata: one\nwhat: ever\ndata:two\ndata\n\n').events).toEqual([
      { type: 'message', data: 'one\ntwo\n', id: undefined },
    ]);
  });

  test.each(['\n', '\r', '\r\n'])('the SSE parser accepts %j as a line end', (end) => {
    const text = ['data: one', '', 'data: two', '', ''].join(end);
    expect(readText(text).events.map(({ data }) => data)).toEqual(['one', 'two']);
  });

  test('the SSE parser keeps an id until the next one, also without data', () => {
    expect(readText('id: 1\ndata: a\n\ndata: b\n\nid: 2\n\n').events).toEqual([
      { type: 'message', data: 'a', id: '1' },
      { type: 'message', data: 'b', id: '1' },
      { type: 'message', data: '', id: '2' },
    ]);
  });

  test('the SSE parser ignores an incomplete event and its id', () => {
    expect(readText('id: 1\ndata: a\n\nid: 2\ndata: b\n').events.at(-1)?.id).toBe('1');
  });

  test('the SSE parser ignores an id with a NUL and a retry with other characters than digits', () => {
    const { events, retries } = readText('id: a\0b\ndata: x\n\nretry: 250\nretry: 1e3\nretry:\n\n');
    expect(events).toEqual([{ type: 'message', data: 'x', id: undefined }]);
    expect(retries).toEqual([250]);
  });

  test('the SSE parser skips a byte order mark before the first line', () => {
    expect(readText('\uFEFFdata: x\n\n').events.map(({ data }) => data)).toEqual(['x']);
  });
});

// The usual parts of streams, and a few others.
const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      ':',
      ' ',
      'data:',
      'data: ',
      'data',
      'event: ',
      'id: ',
      'retry: ',
    ),
    fc.constantFrom('{"jsonrpc":"2.0"}', '12', 'é世', '\uFEFF', 'endpoint', '\0'),
    fc.string({ maxLength: 6 }),
  ),
  { maxLength: 40 },
);
const places = fc.array(fc.nat(400), { maxLength: 12 });

describe('an SSE stream in chunks of any size', () => {
  verifies('MANAGED-4', 'the SSE parser finds the same events in chunks of any size', () => {
    const property = fc.property(pieces, places, (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''));
      expect(read(cut(bytes, cuts))).toEqual(read([bytes]));
    });
    fc.assert(property, { numRuns: 2000 });
  });

  verifies('MANAGED-4', 'the SSE parser finds the same events as eventsource-parser', () => {
    const property = fc.property(pieces, places, (parts, cuts) => {
      // The other one waits after a carriage return to see what follows.
      const bytes = Buffer.from(`${parts.join('')}:\n`);
      const { events, retries } = read(cut(bytes, cuts));
      const ours = events.filter(({ data }) => data !== '').map(({ type, data }) => ({ type, data }));
      expect({ events: ours, retries }).toEqual(readByOther(bytes));
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

/** The other parser takes text; one character a byte, so that nothing is lost on the way. */
function readByOther(bytes: Buffer): { events: { type: string; data: string }[]; retries: number[] } {
  const events: { type: string; data: string }[] = [];
  const retries: number[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const text = Buffer.from(data, 'latin1').toString('utf8');
      if (data !== '') events.push({ type: event || 'message', data: text });
    },
    onRetry: (milliseconds) => retries.push(milliseconds),
  });
  parser.feed(bytes.toString('latin1'));
  return { events, retries };
}

describe('long SSE lines and events', () => {
  const long = `{"jsonrpc":"2.0","id":7,"result":{"text":"${'x'.repeat(2000)}"}}`;

  verifies(
    'MANAGED-4',
    'the SSE parser drops an event over the limit and finds the id that it answers',
    () => {
      const bytes = Buffer.from(`data: ${long}\n\ndata: next\n\n`);
      for (const chunks of [
        [bytes],
        cut(bytes, [3, 700, 1400, 2049]),
        [...bytes].map((byte) => Buffer.from([byte])),
      ]) {
        const { events, oversized } = read(chunks);
        expect(oversized).toEqual([{ id: '7', likelyKind: 'response', size: long.length }]);
        expect(events.filter(({ data }) => data !== '').map(({ data }) => data)).toEqual(['next']);
      }
    },
  );

  test('the SSE parser counts many short lines of data as one event over the limit', () => {
    const { oversized, events } = readText(`${'data: xxxxxxxxx\n'.repeat(200)}\ndata: next\n\n`);
    expect(oversized.map(({ size }) => size)).toEqual([1999]);
    expect(events.at(-1)?.data).toBe('next');
  });

  test('the SSE parser skips long lines of other fields', () => {
    const { events, oversized } = readText(
      `what: ${'x'.repeat(5000)}\nid: ${'x'.repeat(5000)}\ndata: next\n\n`,
    );
    expect(oversized).toEqual([]);
    expect(events).toEqual([{ type: 'message', data: 'next', id: undefined }]);
  });

  test('the SSE parser does not keep an endless line in memory', () => {
    const parser = new SseParser(LIMIT, { event() {}, oversized() {} });
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    push(parser, Buffer.from('data: '));
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 64; i++) push(parser, Buffer.from(chunk));
    globalThis.gc?.();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * chunk.length);
  });

  test('the SSE parser reads 16 MiB in chunks of 1 KiB within 2 s', () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(16 * 1024 * 1024)}\n\n`);
    const pieceSize = 1024;
    const chunks = Array.from({ length: Math.ceil(bytes.length / pieceSize) }, (_, index) =>
      bytes.subarray(index * pieceSize, (index + 1) * pieceSize),
    );
    const began = performance.now();
    expect(read(chunks, bytes.length).events[0]?.data.length).toBe(16 * 1024 * 1024);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
