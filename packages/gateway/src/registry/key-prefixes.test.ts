import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyPrefixes } from './key-prefixes.ts';
import { joinName, prefixesOf } from './names.ts';

const joined = (...parts: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 4 }).map((some) => some.join(''));

/** Keys that overlap with one another and with the separators; some are made host-safe, or are too long. */
const keys = fc.oneof(
  fc.uniqueArray(joined('a', '_', '__'), { minLength: 2, maxLength: 4 }),
  fc.uniqueArray(joined('a', '_', ':', '.', 'x'.repeat(30)), { minLength: 2, maxLength: 4 }),
);

test('[AGG-SEP-2] KeyPrefixes finds the same owners of a name as a search through every prefix', () => {
  fc.assert(
    fc.property(
      keys,
      fc.constantFrom('__', ':', '_'),
      joined('a', '_', '__', ':'),
      (serverKeys, separator, name) => {
        const prefixes = new KeyPrefixes(serverKeys, separator);
        for (const serverKey of serverKeys) {
          const publicName = joinName(serverKey, name, separator);
          expect(prefixes.rivals(serverKey, publicName, false)).toEqual(
            rivals(serverKeys, separator, { serverKey, publicName }),
          );
        }
      },
    ),
    { numRuns: 500 },
  );
});

/** Tries every prefix of every key. */
function rivals(
  serverKeys: readonly string[],
  separator: string,
  { serverKey, publicName }: { serverKey: string; publicName: string },
): string[] | undefined {
  const matching = serverKeys.flatMap((owner) =>
    prefixesOf(owner, separator)
      .filter((prefix) => publicName.startsWith(prefix))
      .map((prefix) => ({ owner, length: prefix.length })),
  );
  const longest = Math.max(...matching.map(({ length }) => length));
  const owners = matching.filter(({ length }) => length === longest).map(({ owner }) => owner);
  return owners.length === 0 || owners.includes(serverKey) ? undefined : [...new Set(owners)];
}
