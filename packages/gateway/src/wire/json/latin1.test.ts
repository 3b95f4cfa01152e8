import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LARGE, textAt } from './latin1.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('textAt returns the same text for pieces and lines of any length', () => {
  for (const length of [40, LARGE - 1, LARGE, LARGE + 1]) {
    const line = Buffer.alloc(length, 'abc\u00e9\u00ff', 'latin1');
    const whole = line.toString('latin1');
    for (const [start, end] of [
      [0, 0],
      [3, 4],
      [1, 13],
      [1, 14],
      [0, length],
      [length - 5, length],
    ] as const)
      expect(textAt(line, start, end)).toBe(whole.slice(start, end));
  }
});

test('a text from textAt does not keep its line in memory', () => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 2000 }, (_, i) => [
    textAt(Buffer.alloc(LARGE - 1, String(i)), 0, 4),
    textAt(Buffer.alloc(LARGE - 1, String(i)), 4, 40),
  ]);
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 1024 * 1024);
  expect(kept).toHaveLength(2000);
});
