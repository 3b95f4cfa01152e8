import { expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { KeptResults } from './kept-results.ts';

const KIB = 1024;

/** Keeps a result of this many bytes, each of this value. */
function keep(results: KeptResults, size: number, value: number): { position: number; size: number } {
  return { position: results.keep(Buffer.alloc(size + 10, value), 5, 5 + size), size };
}

function isKept(results: KeptResults, kept: { position: number; size: number }, value: number): boolean {
  const bytes = results.read(kept.position, kept.size);
  return bytes?.length === kept.size && bytes.every((byte) => byte === value);
}

verifies('HEALTH-4', 'KeptResults keeps the latest small results within 4 MiB', () => {
  const results = new KeptResults();
  const all = Array.from({ length: 600 }, (_, call) => keep(results, 10 * KIB, call % 256));
  const known = all.map((kept, call) => isKept(results, kept, call % 256));
  expect(known.lastIndexOf(false)).toBe(known.indexOf(true) - 1);
  // Ten of sixteen KiB at the end of the ring stay unused.
  expect(known.filter(Boolean).length).toBeGreaterThan(400);
  expect(known.filter(Boolean).length).toBeLessThanOrEqual(409);
});

verifies('HEALTH-4', 'KeptResults keeps the latest large results within 16 MiB without copying them', () => {
  const results = new KeptResults();
  const bytes = Buffer.alloc(3 * KIB * KIB, 1);
  const all = Array.from({ length: 8 }, () => results.keep(Buffer.from(bytes), 0, bytes.length));
  expect(all.map((position) => results.read(position, bytes.length) !== undefined)).toEqual([
    ...Array.from({ length: 3 }, () => false),
    ...Array.from({ length: 5 }, () => true),
  ]);
  const large = Buffer.alloc(17 * KIB, 2);
  const kept = results.read(results.keep(large, 0, large.length), large.length);
  expect(kept?.buffer).toBe(large.buffer);
});

test('KeptResults does not keep a result over 16 MiB', () => {
  const results = new KeptResults();
  const huge = keep(results, 17 * KIB * KIB, 1);
  expect([huge.position, results.read(huge.position, huge.size)]).toEqual([-1, undefined]);
});
