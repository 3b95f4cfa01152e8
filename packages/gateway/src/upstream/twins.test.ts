import { describe, expect, test } from 'vitest';
import { Twins } from './twins.ts';
import type { Upstream } from './upstream.ts';

const twin = { serverKey: 'far' } as Upstream;

describe('second conversations', () => {
  test('are opened once, by the first who needs them', async () => {
    const opened: string[] = [];
    const twins = new Twins((serverKey) => {
      opened.push(serverKey);
      return Promise.resolve(twin);
    });
    expect(await Promise.all([twins.of('far'), twins.of('far')])).toEqual([twin, twin]);
    expect(await twins.of('far')).toBe(twin);
    expect(opened).toEqual(['far']);
    expect([...twins.running]).toEqual([twin]);
    expect(twins.mayHave('far')).toBe(true);
  });

  test.each([
    ['has none to offer', () => Promise.resolve(undefined)],
    ['cannot be reached', () => Promise.reject(new Error('no'))],
  ])('are not asked for again where the server %s', async (_, open) => {
    const twins = new Twins(open);
    expect(twins.mayHave('far')).toBe(true);
    expect(await twins.of('far')).toBeUndefined();
    expect(twins.mayHave('far')).toBe(false);
    expect([...twins.running]).toEqual([]);
  });
});
