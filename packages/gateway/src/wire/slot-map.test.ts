import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SlotMap } from './slot-map.ts';

describe('a slot map', () => {
  test('a slot map gives each entry its own number, from 1 on', () => {
    const slots = new SlotMap<string>();
    expect([slots.add('a'), slots.add('b'), slots.add('a')]).toEqual([1, 2, 3]);
    expect(slots.all()).toEqual(['a', 'b', 'a']);
  });

  test('a slot map returns an entry from take once', () => {
    const slots = new SlotMap<string>();
    const number = slots.add('a');
    expect([slots.get(number), slots.take(number), slots.take(number), slots.get(number)]).toEqual([
      'a',
      'a',
      undefined,
      undefined,
    ]);
    expect(slots.size).toBe(0);
  });

  test.each([0, -1, 65, 1.5, 2 ** 32 + 1, Number.NaN, Number.POSITIVE_INFINITY])(
    'a slot map has no entry under %d',
    (number) => {
      const slots = new SlotMap<string>();
      slots.add('a');
      expect(slots.get(number)).toBeUndefined();
      expect(slots.take(number)).toBeUndefined();
      expect(slots.size).toBe(1);
    },
  );

  test('a slot map behaves like a Map for any sequence of additions and removals', () => {
    const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(400)), {
      maxLength: 600,
      size: 'max',
    });
    fc.assert(
      fc.property(steps, (all) => {
        const slots = new SlotMap<object>();
        const map = new Map<number, object>();
        for (const step of all) {
          if (step === 'add') {
            const entry = {};
            const number = slots.add(entry);
            if (map.has(number)) throw new Error(`${number} was given twice`);
            map.set(number, entry);
          } else if (slots.take(step) !== map.get(step)) throw new Error(`${step} is not what it was`);
          else map.delete(step);
        }
        expect(slots.size).toBe(map.size);
        expect(new Set(slots.all())).toEqual(new Set(map.values()));
      }),
      { numRuns: 200 },
    );
  });

  test('a slot map shrinks after 100,000 entries and does not reuse their numbers', () => {
    const slots = new SlotMap<string>();
    const flood = Array.from({ length: 100_000 }, () => slots.add('flood'));
    for (const number of flood) slots.take(number);
    expect(slots.add('after')).toBe(100_001);
    const began = performance.now();
    for (let i = 0; i < 10_000; i++) slots.all();
    // As large as in the flood it would take many times that long.
    expect(performance.now() - began).toBeLessThan(1000);
    expect(slots.get(flood[0] as number)).toBeUndefined();
    expect(slots.all()).toEqual(['after']);
  });

  test('a slot map keeps an old entry while thousands are added and removed', () => {
    const slots = new SlotMap<string>();
    const numbers = new Set<number>();
    const old = slots.add('old');
    for (let i = 0; i < 10_000; i++) {
      const number = slots.add('new');
      numbers.add(number);
      slots.take(number);
    }
    expect(numbers.size).toBe(10_000);
    expect(numbers).not.toContain(old);
    expect(slots.take(old)).toBe('old');
  });
});
