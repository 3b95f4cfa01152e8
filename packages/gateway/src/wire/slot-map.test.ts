import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SlotMap } from './slot-map.ts';

describe('a ledger', () => {
  test('gives each entry a number of its own, counting from one', () => {
    const ledger = new SlotMap<string>();
    expect([ledger.add('a'), ledger.add('b'), ledger.add('a')]).toEqual([1, 2, 3]);
    expect(ledger.all()).toEqual(['a', 'b', 'a']);
  });

  test('gives an entry out once', () => {
    const ledger = new SlotMap<string>();
    const number = ledger.add('a');
    expect([ledger.get(number), ledger.take(number), ledger.take(number), ledger.get(number)]).toEqual([
      'a',
      'a',
      undefined,
      undefined,
    ]);
    expect(ledger.size).toBe(0);
  });

  test.each([0, -1, 65, 1.5, 2 ** 32 + 1, Number.NaN, Number.POSITIVE_INFINITY])(
    'knows nothing under %d',
    (number) => {
      const ledger = new SlotMap<string>();
      ledger.add('a');
      expect(ledger.get(number)).toBeUndefined();
      expect(ledger.take(number)).toBeUndefined();
      expect(ledger.size).toBe(1);
    },
  );

  test('does what a map would do, whatever comes and goes', () => {
    const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(400)), {
      maxLength: 600,
      size: 'max',
    });
    fc.assert(
      fc.property(steps, (all) => {
        const ledger = new SlotMap<object>();
        const map = new Map<number, object>();
        for (const step of all) {
          if (step === 'add') {
            const entry = {};
            const number = ledger.add(entry);
            if (map.has(number)) throw new Error(`${number} was given twice`);
            map.set(number, entry);
          } else if (ledger.take(step) !== map.get(step)) throw new Error(`${step} is not what it was`);
          else map.delete(step);
        }
        expect(ledger.size).toBe(map.size);
        expect(new Set(ledger.all())).toEqual(new Set(map.values()));
      }),
      { numRuns: 200 },
    );
  });

  test('is small again after a flood, and gives no number twice', () => {
    const ledger = new SlotMap<string>();
    const flood = Array.from({ length: 100_000 }, () => ledger.add('flood'));
    for (const number of flood) ledger.take(number);
    expect(ledger.add('after')).toBe(100_001);
    const began = performance.now();
    for (let i = 0; i < 10_000; i++) ledger.all();
    // As large as in the flood it would take many times that long.
    expect(performance.now() - began).toBeLessThan(1000);
    expect(ledger.get(flood[0] as number)).toBeUndefined();
    expect(ledger.all()).toEqual(['after']);
  });

  test('keeps what takes long while thousands come and go', () => {
    const ledger = new SlotMap<string>();
    const numbers = new Set<number>();
    const old = ledger.add('old');
    for (let i = 0; i < 10_000; i++) {
      const number = ledger.add('new');
      numbers.add(number);
      ledger.take(number);
    }
    expect(numbers.size).toBe(10_000);
    expect(numbers).not.toContain(old);
    expect(ledger.take(old)).toBe('old');
  });
});
