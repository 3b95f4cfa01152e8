import { describe, expect, test } from 'vitest';
import { validateValue } from './scan.ts';
import { hasValidStrings } from './valid-strings.ts';

/** A text that begins at each of the four places in a word. */
function atEachPlace(text: string): Buffer[] {
  return [0, 1, 2, 3].map((shift) => Buffer.from('\n'.repeat(shift) + text, 'latin1').subarray(shift));
}

describe('hasValidStrings', () => {
  test('hasValidStrings rejects a control character at every position', () => {
    for (let length = 1; length < 40; length++)
      for (let at = 0; at < length; at++)
        for (const text of atEachPlace(`${'x'.repeat(at)}\x1f${'\x80'.repeat(length - at - 1)}`))
          expect(hasValidStrings(text), `${at} of ${length}`).toBe(false);
  });

  test.each(Array.from({ length: 256 }, (_, byte) => byte))(
    'hasValidStrings accepts the byte %i exactly where JSON does',
    (byte) => {
      const text = `${'x'.repeat(300)}${String.fromCharCode(byte)}${'x'.repeat(300)}`;
      for (const bytes of atEachPlace(text))
        expect(hasValidStrings(bytes)).toBe(byte >= 0x20 && byte !== 0x5c);
    },
  );

  test('hasValidStrings accepts the escapes of JSON and no others', () => {
    const plain = 'x'.repeat(100);
    for (const escape of ['\\n', '\\"', '\\\\', '\\/', '\\u00e9', '\\ud800'])
      expect(hasValidStrings(Buffer.from(plain + escape + plain))).toBe(true);
    for (const none of ['\\x', '\\u12g4', '\\', '\\u12', '\\N'])
      expect(hasValidStrings(Buffer.from(`${plain}\\n${plain}${none}`))).toBe(false);
  });

  test('a text with an escape every few bytes is left to validateValue, which scans it', () => {
    const dense = `"${'\\"a'.repeat(1000)}"`;
    expect(hasValidStrings(Buffer.from(dense))).toBe(false);
    expect(validateValue(Buffer.from(dense), 0)).toBe(dense.length);
    expect(validateValue(Buffer.from(dense.replace(/a"$/u, '\\x"')), 0)).toBe(-1);
  });
});
