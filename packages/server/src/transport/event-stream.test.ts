import { describe, expect, test } from 'vitest';
import { createEventStream, keepLast, parseEventId, resumeStream, writeMessage } from './event-stream.ts';

const message = (text: string) => ({ jsonrpc: '2.0' as const, method: 'x', params: { text } });

/** A connection that remembers what was written. */
function sink(): { written: string[]; write: (text: string) => void; end: () => void } {
  const written: string[] = [];
  return { written, write: (text) => void written.push(text), end: () => void written.push('end') };
}

describe('an event stream', () => {
  test('a client that comes back gets what it has not seen, once and in order', () => {
    const stream = createEventStream(3);
    for (const text of ['one', 'two', 'three']) writeMessage(stream, message(text));
    const back = sink();
    resumeStream(stream, back, 1);
    expect(back.written.join('')).toMatch(/id: 3:2\n.*two[^]*id: 3:3\n.*three/u);
    expect(back.written.join('')).not.toContain('one');
    const again = sink();
    resumeStream(stream, again, 3);
    expect([back.written.at(-1), again.written]).toEqual(['end', []]);
  });

  test('a client that is away for long loses the oldest messages, and never the last one', () => {
    const stream = createEventStream(1);
    for (let count = 0; count < 5; count++) writeMessage(stream, message('x'.repeat(100_000)));
    expect(stream.kept.map(({ count }) => count)).toEqual([4, 5]);
    writeMessage(stream, message('x'.repeat(1_000_000)));
    expect(stream.kept.map(({ count }) => count)).toEqual([6]);
    keepLast(stream, 0);
    expect([stream.kept, stream.keptSize]).toEqual([[], 0]);
  });

  test.each([
    ['1:2', { number: 1, count: 2 }],
    ['0:0', { number: 0, count: 0 }],
    ['', undefined],
    ['1', undefined],
    ['1:2:3', undefined],
    ['-1:2', undefined],
    ['1e3:2', undefined],
    [`${'9'.repeat(16)}:1`, undefined],
  ])('parseEventId of %j returns %j', (id, expected) => {
    expect(parseEventId(id)).toEqual(expected);
  });
});
