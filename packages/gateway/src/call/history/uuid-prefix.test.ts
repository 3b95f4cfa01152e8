import { expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { uuidPrefix } from './uuid-prefix.ts';

verifies('HEALTH-4', 'uuidPrefix and a number of twelve digits make a UUID', () => {
  const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u;
  for (const random of [() => 0, () => 1 - Number.EPSILON, Math.random])
    expect(`${uuidPrefix(random)}00000000000f`).toMatch(uuid);
  expect(new Set(Array.from({ length: 1000 }, () => uuidPrefix(Math.random))).size).toBe(1000);
});
