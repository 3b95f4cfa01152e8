import { expect, test } from 'vitest';
import { SeenNames } from './seen-names.ts';

/** Takes over a list; returns the forgotten names. */
function list(seen: SeenNames, names: readonly string[]): string[] {
  seen.begin();
  for (const name of names) seen.see(name);
  return [...seen.surplus()];
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

test('H6: SeenNames forgets past names beyond 10,000, the oldest first', () => {
  const seen = new SeenNames();
  expect(list(seen, names('a', 6000))).toEqual([]);
  expect(list(seen, names('b', 6000))).toEqual([]);
  expect(list(seen, [...names('c', 10), 'a0'])).toEqual(names('a', 2000).slice(1));
  expect(seen.has('a0')).toBe(true);
  expect(seen.has('a1')).toBe(false);
  expect(seen.has('b5999')).toBe(true);
});

test('H6: SeenNames counts only past names, for lists of any length', () => {
  const seen = new SeenNames();
  expect(list(seen, names('a', 30_000))).toEqual([]);
  expect(list(seen, names('a', 30_000))).toEqual([]);
  expect(seen.pastBytes).toBe(0);
  expect(list(seen, [])).toHaveLength(20_000);
  expect(seen.pastBytes).toBeGreaterThan(10_000 * 256);
  expect(list(seen, names('a', 30_000))).toEqual([]);
  expect(seen.pastBytes).toBe(0);
});

test('H6: SeenNames forgets long past names beyond 4 MiB', () => {
  const seen = new SeenNames();
  list(seen, names('x'.repeat(1024 * 1024), 5));
  expect(list(seen, [])).toHaveLength(4);
  expect(seen.pastBytes).toBeLessThanOrEqual(4 * 1024 * 1024);
});
