import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { joinTaskId, splitTaskId } from './task-ids.ts';

verifies('AGG-CALL-3', 'splitTaskId returns the server and the id that joinTaskId joined', () => {
  expect(joinTaskId('files', '786512e2-9e0d')).toBe('files~786512e2-9e0d');
  expect(joinTaskId('a~b', '~')).toBe('a%7Eb~~');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (serverKey, id) => {
      expect(splitTaskId(joinTaskId(serverKey, id))).toEqual({ serverKey, id });
    }),
  );
});

test('splitTaskId returns undefined for an id that does not name a server', () => {
  for (const id of ['', 'plain', '%E0%A4%A~1']) expect(splitTaskId(id)).toBeUndefined();
});
