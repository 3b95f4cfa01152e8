import { assert, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { timestamp } from './timestamp.ts';

test('a timestamp equals the text of a Date', () => {
  const lastOfYear9999 = Date.UTC(10_000, 0, 1) - 1;
  for (const ms of [
    0,
    Date.UTC(2024, 1, 29),
    Date.UTC(2000, 1, 29),
    Date.UTC(2100, 2, 1) - 1,
    lastOfYear9999,
  ])
    expect(timestamp(ms)).toBe(new Date(ms).toISOString());
  assert(
    property(integer({ min: 0, max: lastOfYear9999 }), (ms) => timestamp(ms) === new Date(ms).toISOString()),
    { numRuns: 2000 },
  );
});
