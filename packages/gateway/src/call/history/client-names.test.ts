import { expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { ClientNames } from './client-names.ts';

const name = (info: unknown): unknown =>
  new ClientNames().of(Buffer.from(JSON.stringify(info)).toString('latin1'));

verifies(
  'HEALTH-7',
  "ClientNames shortens a client's name and version and removes control characters",
  () => {
    expect(name({ name: 'host é', version: '1.2', title: 'x' })).toEqual({ name: 'host é', version: '1.2' });
    expect(name({ name: 'a\u001B[31m\u202Eb\n', version: '\u0007' })).toEqual({
      name: 'a[31mb',
      version: '',
    });
    expect(name({ name: `x${'😀'.repeat(100)}`, version: 'v'.repeat(100) })).toEqual({
      name: `x${'😀'.repeat(31)}`,
      version: 'v'.repeat(32),
    });
    expect(name({ name: 'x' })).toEqual({ name: 'x', version: '' });
    for (const unnamed of [null, 5, {}, { name: 5 }, { name: '' }]) expect(name(unnamed)).toBeUndefined();
  },
);

test('ClientNames ignores invalid JSON and remembers a hundred clients', () => {
  const names = new ClientNames();
  expect([names.of('{'), names.of(undefined)]).toEqual([undefined, undefined]);
  const info = (call: number): string => `{"name":"n${call}"}`;
  const first = names.of(info(0));
  expect(names.of(info(0))).toBe(first);
  for (let call = 1; call <= 100; call++) names.of(info(call));
  expect(names.of(info(0))).not.toBe(first);
});
