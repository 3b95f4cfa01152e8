import { describe, expect, test } from 'vitest';
import { contentDisposition, safeFilename } from './download-name.ts';

describe('the name of a download', () => {
  test.each([
    ['report.csv', 'report.csv'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['C:\\x\\y.txt', 'C__x_y.txt'],
    ['a\u0000b\u0007c\u007fd\u0085e', 'a_b_c_d_e'],
    ['invoice\u202Efdp.exe', 'invoice_fdp.exe'],
    ['zero\u200Bwidth\uFEFF', 'zero_width_'],
    ['tag\u{E0041}', 'tag_'],
    ['half \uD83D character', 'half _ character'],
    ['.hidden', 'hidden'],
    [' spaces and dots. . ', 'spaces and dots'],
    ['', 'download'],
    ['...', 'download'],
    ['nul', '_nul'],
    ['COM1.tar.gz', '_COM1.tar.gz'],
    ['LPT\u00B9', '_LPT\u00B9'],
    ['console.log', 'console.log'],
    ['Cafe\u0301.txt', 'Caf\u00E9.txt'],
  ])('%j becomes %j', (filename, safe) => {
    expect(safeFilename(filename)).toBe(safe);
  });

  test('a long name keeps its extension, whole characters and 255 bytes at most', () => {
    for (let length = 240; length < 300; length++) {
      for (const char of ['a', 'é', '漢', '😀']) {
        const name = safeFilename(`${char.repeat(length)}.csv`);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(name).toMatch(/^(?:a+|é+|漢+|(?:😀)+)\.csv$/u);
      }
    }
  });

  test('random texts never leave the header, and are stable', () => {
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: 12 }, () => String.fromCodePoint(randomCodePoint())).join('');
      const name = safeFilename(text);
      expect(safeFilename(name)).toBe(name);
      expect(contentDisposition('attachment', text)).toMatch(
        /^attachment; filename="[ !#-~]*"(?:; filename\*=UTF-8''(?:[\w.~-]|%[0-9A-F]{2})+)?$/,
      );
    }
  });

  test('a percent sign is not taken for an encoding', () => {
    expect(contentDisposition('inline', '100%41.txt')).toBe(
      `inline; filename="100_41.txt"; filename*=UTF-8''100%2541.txt`,
    );
  });
});

/** Half of them are ASCII, where the dangerous characters are. */
function randomCodePoint(): number {
  return Math.floor(Math.random() * (Math.random() < 0.5 ? 0x80 : 0x110000));
}
