// The table of docs/security.md has a test for each case, and a case for each test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CASES, numbersOf } from '../../scripts/attack/cases.mjs';
import { root, sourceFiles } from '../support/source-files.ts';

/** The numbers of the tests in this folder, as their titles are written. */
const tested = new Set(
  sourceFiles('tests/attack', /(?<!cases)\.test\.ts$/).flatMap(({ text }) =>
    [...text.matchAll(/(['"`])(?<title>[HML]?\d+(?:, [HML]?\d+)*: )/gu)].flatMap(({ groups }) =>
      numbersOf(groups?.['title'] ?? ''),
    ),
  ),
);

describe('the table of attacks', () => {
  test('the table of attacks has each number once', () => {
    const numbers = CASES.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  test('the table of attacks has a case for every test', () => {
    const numbers = new Set(CASES.map(({ number }) => number));
    expect([...tested].filter((number) => !numbers.has(number))).toEqual([]);
  });

  test('the table of attacks has a test for every case, or a reason without one', () => {
    const untested = CASES.filter(
      ({ number, elsewhere, open }) => open === undefined && elsewhere.length === 0 && !tested.has(number),
    );
    expect(untested.map(({ number }) => number)).toEqual([]);
  });

  test('the table of attacks names existing tests of other folders', () => {
    const missing = CASES.flatMap(({ number, elsewhere }) =>
      elsewhere
        .filter(([file, title]) => !plainText(file).includes(title))
        .map(([file, title]) => `${number}: ${title} in ${file}`),
    );
    expect(missing).toEqual([]);
  });

  test.each([
    ['[SAFE-4] H1, H6: x', ['H1', 'H6']],
    ['[SAFE-4][AGG-CALL-1] 12: x', ['12']],
    ['L4: x: y', ['L4']],
    ['a title without one: x', []],
  ])('numbersOf finds the numbers in %s', (title, numbers) => {
    expect(numbersOf(title)).toEqual(numbers);
  });
});

function plainText(file: string): string {
  return readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'");
}
