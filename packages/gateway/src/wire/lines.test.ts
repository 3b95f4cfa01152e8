import { describe, expect, test, vi } from 'vitest';
import { inChunks } from '../../../../tests/support/json-texts.ts';
import { verifies } from '../../../../tests/verifies.ts';
import { LineReader } from './lines.ts';
import type { Oversized } from './oversized.ts';

interface Read {
  readonly lines: string[];
  readonly oversized: Oversized[];
  readonly reader: LineReader;
}

function reading(limit = 1000): Read {
  const lines: string[] = [];
  const oversized: Oversized[] = [];
  const reader = new LineReader(limit, {
    line: (bytes) => lines.push(bytes.toString()),
    oversized: (line) => oversized.push(line),
  });
  return { lines, oversized, reader };
}

describe('the line reader', () => {
  test.each([
    [['a\nb\n'], ['a', 'b']],
    [['a', 'b', '\n'], ['ab']],
    [
      ['a\nb', 'c\nd', '\n'],
      ['a', 'bc', 'd'],
    ],
    [['\n', '\n\n', 'a\n'], ['a']],
    [
      ['a\r\n\r\nb\r', '\n'],
      ['a', 'b'],
    ],
    [['a\rb\n'], ['a\rb']],
    [['a\u2028b\u2029c\u0085\n'], ['a\u2028b\u2029c\u0085']],
    [[' \t\n'], [' \t']],
    [['', 'a', ''], []],
  ])('the line reader cuts the chunks %j into lines', (chunks, expected) => {
    const { lines, reader } = reading();
    for (const chunk of chunks) reader.push(Buffer.from(chunk));
    expect(lines).toEqual(expected);
  });

  test('the line reader takes the rest of a stream as a line when the stream ends', () => {
    const { lines, reader } = reading();
    reader.push(Buffer.from('a\nlast'));
    expect(lines).toEqual(['a']);
    reader.end();
    reader.end();
    expect(lines).toEqual(['a', 'last']);
  });

  test('the line reader joins a character that two chunks share', () => {
    const { lines, reader } = reading();
    for (const chunk of inChunks(Buffer.from('é😀\n'), [1])) reader.push(chunk);
    expect(lines).toEqual(['é😀']);
  });

  test('the line reader does not copy a line that came in one chunk', () => {
    const chunk = Buffer.from('a\nbc\n');
    const found: Buffer[] = [];
    new LineReader(10, { line: (bytes) => found.push(bytes), oversized() {} }).push(chunk);
    expect(found.every(({ buffer }) => buffer === chunk.buffer)).toBe(true);
  });
});

describe('a line over the limit', () => {
  test.each([1, 7, 1000])(
    'a line over the limit is only scanned for its id, in chunks of %i bytes',
    (size) => {
      const { lines, oversized, reader } = reading(20);
      const line = `{"id":5,"result":"${'x'.repeat(100)}"}`;
      for (const chunk of inChunks(Buffer.from(`before\n${line}\nafter\n`), [size])) reader.push(chunk);
      expect(lines).toEqual(['before', 'after']);
      expect(oversized).toEqual([{ id: '5', likelyKind: 'response', size: line.length }]);
    },
  );

  test('the line reader keeps a line at the limit and drops one that is a byte longer', () => {
    const { lines, oversized, reader } = reading(10);
    reader.push(Buffer.from(`${'a'.repeat(10)}\n${'b'.repeat(11)}\n${'c'.repeat(5)}`));
    reader.push(Buffer.from(`${'c'.repeat(5)}\n${'d'.repeat(10)}`));
    reader.push(Buffer.from('d\n'));
    expect(lines).toEqual(['a'.repeat(10), 'c'.repeat(10)]);
    expect(oversized.map(({ size }) => size)).toEqual([11, 11]);
  });

  test('a line that passes the limit after thousands of chunks is scanned for its id', () => {
    const { lines, oversized, reader } = reading(8 * 2 ** 20);
    const line = `{"result":"${'x'.repeat(9 * 2 ** 20)}","id":5}`;
    for (const chunk of inChunks(Buffer.from(`${line}\nafter\n`), [4096])) reader.push(chunk);
    expect(lines).toEqual(['after']);
    expect(oversized).toEqual([{ id: '5', likelyKind: 'response', size: line.length }]);
  });

  test('a line over the limit is reported when the stream ends without a newline', () => {
    const { oversized, reader } = reading(10);
    reader.push(Buffer.from('x'.repeat(11)));
    reader.end();
    expect(oversized).toHaveLength(1);
  });
});

/** Reads one line in chunks of this size; counts the bytes that were searched and copied for it. */
function effort(megabytes: number, chunkSize: number): { searched: number; copied: number } {
  const [chunk, newline] = [Buffer.alloc(chunkSize, 'x'), Buffer.from('\n')];
  const search = vi.spyOn(chunk, 'indexOf');
  const copy = vi.spyOn(Buffer, 'concat');
  let length = 0;
  const reader = new LineReader(128 * 2 ** 20, { line: (bytes) => (length = bytes.length), oversized() {} });
  for (let read = 0; read < megabytes * 2 ** 20; read += chunkSize) reader.push(chunk);
  reader.push(newline);
  expect(length).toBe(megabytes * 2 ** 20);
  const copies = copy.mock.results.map(({ value }) => (value as Buffer).length);
  const found = {
    searched: search.mock.calls.length * chunkSize,
    copied: copies.reduce((sum, size) => sum + size, 0),
  };
  vi.restoreAllMocks();
  return found;
}

verifies(
  'PERF-1',
  'each byte of a line is searched once and copied at most twice, in chunks of any size',
  () => {
    for (const chunkSize of [256, 4096, 65_536]) {
      const { searched, copied } = effort(16, chunkSize);
      expect(searched).toBe(16 * 2 ** 20);
      expect(copied).toBeLessThanOrEqual(2 * 16 * 2 ** 20);
    }
  },
);

test('the line reader copies a line of more than 1024 large chunks once', () => {
  expect(effort(80, 65_536).copied).toBe(80 * 2 ** 20);
});

test('the line reader does not keep one buffer per byte of a line that comes byte by byte', () => {
  const { lines, reader } = reading(2e6);
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 1e6; i++) reader.push(Buffer.of(0x78));
  const grown = process.memoryUsage().heapUsed - before;
  reader.push(Buffer.from('\n'));
  expect(lines[0]).toHaveLength(1e6);
  // Kept one by one the buffers take more than a hundred bytes each.
  expect(grown).toBeLessThan(60e6);
});
