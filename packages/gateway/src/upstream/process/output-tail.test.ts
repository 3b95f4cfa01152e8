import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { escapeUnsafe } from '../../log.ts';
import { OutputTail } from './output-tail.ts';

function read(...chunks: (string | Buffer)[]): { lines: string[]; reader: OutputTail } {
  const lines: string[] = [];
  const reader = new OutputTail((line) => lines.push(line));
  for (const chunk of chunks) push(reader, Buffer.from(chunk as string));
  return { lines, reader };
}

function push(reader: OutputTail, chunk: Buffer): void {
  reader.begin(chunk);
  while (reader.next());
}

test('cuts at line ends, wherever the chunks are cut', () => {
  const { lines, reader } = read('on', 'e\ntwo\r\nthr', 'ee');
  expect(lines).toEqual(['one', 'two']);
  reader.end();
  reader.end();
  expect(lines).toEqual(['one', 'two', 'three']);
});

test('any text in any chunks gives the same lines', () => {
  const text = fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 8 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), (parts, size) => {
      const bytes = Buffer.from(`${parts.join('\n')}\n`);
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(read(...chunks).lines).toEqual(read(bytes).lines);
    }),
  );
});

verifies('AGG-CHILD-2', 'keeps the last ten lines that say something, and the one that has not ended', () => {
  const { reader } = read(
    Array.from({ length: 12 }, (_, index) => `line ${index}\n \n`).join(''),
    'Ok to proceed? (y) ',
  );
  expect(reader.tail()).toHaveLength(10);
  expect(reader.tail()[0]).toBe('line 3');
  expect(reader.tail().at(-1)).toBe('Ok to proceed? (y) ');
});

test('a server can neither forge a line nor speak to the terminal', () => {
  const { lines } = read('\u001b[2J\u001b]0;title\u0007 a\rb\u0000\u009b31m \u2028 \u202e \ttab é 😀\n');
  expect(lines).toEqual(['\\x1b[2J\\x1b]0;title\\x07 a\\x0db\\x00\\x9b31m \\u2028 \\u202e \ttab é 😀']);
  expect(escapeUnsafe('plain \\x1b text')).toBe('plain \\x1b text');
});

test('bytes that are no UTF-8 do no harm', () => {
  expect(read(Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0x62, 0x0a])).lines).toEqual(['a\ufffd\ufffd', 'b']);
});

test('a long line is cut, with a note, and the next one is whole again', () => {
  const { lines } = read('x'.repeat(8192), '\n', `${'€'.repeat(3000)}\n`, 'short\n');
  expect(lines[0]).toBe('x'.repeat(8192));
  expect(lines[1]).toBe(`${'€'.repeat(2730)} … [cut: the line is longer than 8 KiB]`);
  expect(lines[2]).toBe('short');
});

test('output without end and without a newline does not pile up', () => {
  const reader = new OutputTail(() => undefined);
  const chunk = Buffer.alloc(65_536, 'x');
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 2000; round += 1) push(reader, chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  expect(reader.tail()[0]?.length).toBeLessThan(8300);
});

test('all that could disturb a terminal is written out, and nothing else', () => {
  const unsafe = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/u;
  const characters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code));
  const escaped = characters.filter((character) => escapeUnsafe(character) !== character);
  expect(escaped).toEqual(characters.filter((character) => unsafe.test(character)));
});
