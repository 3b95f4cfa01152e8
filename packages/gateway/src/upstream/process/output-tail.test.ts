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

test('the output tail cuts lines at their ends, not at the ends of chunks', () => {
  const { lines, reader } = read('on', 'e\ntwo\r\nthr', 'ee');
  expect(lines).toEqual(['one', 'two']);
  reader.end();
  reader.end();
  expect(lines).toEqual(['one', 'two', 'three']);
});

test('the output tail finds the same lines of a text in chunks of any size', () => {
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

verifies(
  'AGG-CHILD-2',
  'the output tail keeps the last ten non-empty lines, including the unfinished one',
  () => {
    const { reader } = read(
      Array.from({ length: 12 }, (_, index) => `line ${index}\n \n`).join(''),
      'Ok to proceed? (y) ',
    );
    expect(reader.tail()).toHaveLength(10);
    expect(reader.tail()[0]).toBe('line 3');
    expect(reader.tail().at(-1)).toBe('Ok to proceed? (y) ');
  },
);

test('the output tail escapes control characters, so that a server cannot forge a line', () => {
  const { lines } = read('\u001b[2J\u001b]0;title\u0007 a\rb\u0000\u009b31m \u2028 \u202e \ttab é 😀\n');
  expect(lines).toEqual(['\\x1b[2J\\x1b]0;title\\x07 a\\x0db\\x00\\x9b31m \\u2028 \\u202e \ttab é 😀']);
  expect(escapeUnsafe('plain \\x1b text')).toBe('plain \\x1b text');
});

test('the output tail replaces bytes that are not UTF-8', () => {
  expect(read(Buffer.from([0x61, 0xff, 0xc3, 0x0a, 0x62, 0x0a])).lines).toEqual(['a\ufffd\ufffd', 'b']);
});

test('the output tail cuts a line over 8 KiB with a note, and not the next line', () => {
  const { lines } = read('x'.repeat(8192), '\n', `${'€'.repeat(3000)}\n`, 'short\n');
  expect(lines[0]).toBe('x'.repeat(8192));
  expect(lines[1]).toBe(`${'€'.repeat(2730)} … [cut: the line is longer than 8 KiB]`);
  expect(lines[2]).toBe('short');
});

test('the output tail does not keep endless output without a newline in memory', () => {
  const reader = new OutputTail(() => undefined);
  const chunk = Buffer.alloc(65_536, 'x');
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 2000; round += 1) push(reader, chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  expect(reader.tail()[0]?.length).toBeLessThan(8300);
});

test('escapeUnsafe escapes the characters that could disturb a terminal and no others', () => {
  const unsafe = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/u;
  const characters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code));
  const escaped = characters.filter((character) => escapeUnsafe(character) !== character);
  expect(escaped).toEqual(characters.filter((character) => unsafe.test(character)));
});
