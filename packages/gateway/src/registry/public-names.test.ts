import { expect, test } from 'vitest';
import { PublicNames } from './public-names.ts';

const RULES = { separator: '__', noPrefix: false, order: ['a', 'b'] };

function list(book: PublicNames, serverKey: string, names: readonly string[]): void {
  const listed = names.map((key) => ({ key }));
  for (const steps = book.enter(serverKey, listed); steps.next().done !== true;);
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

test('H6: PublicNames forgets names of the first list after 10,000 others', () => {
  const book = new PublicNames(RULES);
  list(book, 'a', names('first', 100));
  list(book, 'a', names('second', 10_000));
  expect(book.publicName('a', 'first0')).toBe('a__first0');
  expect(book.pastBytes('a')).toBeGreaterThan(0);
  list(book, 'a', ['first1']);
  expect(book.publicName('a', 'first0')).toBeUndefined();
  expect(book.publicName('a', 'first1')).toBe('a__first1');
  expect(book.publicName('a', 'second9999')).toBe('a__second9999');
});

test('PublicNames keeps no past names for a server that lists the same names again', () => {
  const book = new PublicNames(RULES);
  list(book, 'a', names('tool', 5));
  list(book, 'a', names('tool', 5));
  expect(book.pastBytes('a')).toBe(0);
});

test('[AGG-SEP-3] a tool keeps its unchanged name when the changed name of another tool is equal', () => {
  const book = new PublicNames(RULES);
  list(book, 'a', ['x.y', 'x_y']);
  expect(book.assign('a', 'x_y')).toBe('a__x_y');
  expect(book.assign('a', 'x.y')).toMatch(/^a__x_y_[0-9a-f]{8}$/u);
});
