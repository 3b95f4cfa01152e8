import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { fileEntry, readRecord, recallRecord, type StoredRecord } from './server-record.ts';

const on = fileEntry({ command: 'a', env: { X: '${X}', Y: 'y' } }, true);
const changed = fileEntry({ command: 'b' }, true);
const off = fileEntry({ command: 'a', enabled: false }, false);

const running: StoredRecord = {
  enabled: true,
  autoDisabled: false,
  failureCount: 2,
  wasUnreachable: false,
  lastConnectedAt: 5,
  file: on,
};
const disabled: StoredRecord = { ...running, enabled: false, failureCount: 0 };
const auto: StoredRecord = {
  ...running,
  enabled: false,
  autoDisabled: true,
  autoDisabledAt: 9,
  failureCount: 3,
};

describe('what counts when the gateway starts again', () => {
  const fresh = { enabled: true, autoDisabled: false, failureCount: 0 };
  const rows: [string, StoredRecord | undefined, typeof on, object][] = [
    ['nothing is known', undefined, on, fresh],
    ['nothing is known, and the file leaves it out', undefined, off, { ...fresh, enabled: false }],
    ['it ran, with failures', running, on, { enabled: true, failureCount: 2 }],
    ['it ran, and its entry has changed', running, changed, fresh],
    ['it was disabled', disabled, on, { enabled: false, autoDisabled: false }],
    ['it was disabled, and its entry has changed', disabled, changed, { enabled: false }],
    ['it was disabled by the rule', auto, on, { enabled: false, autoDisabled: true, autoDisabledAt: 9 }],
    ['it was disabled by the rule, and its entry has changed', auto, changed, fresh],
    ['it was disabled by the rule, because of the network', { ...auto, wasUnreachable: true }, on, fresh],
    [
      'it ran, and could not be reached for a while',
      { ...running, wasUnreachable: true },
      on,
      { failureCount: 2, wasUnreachable: true },
    ],
    ['it ran, and the file leaves it out', running, off, { enabled: false, autoDisabled: false }],
    ['the file left it out then, and does no more', { ...disabled, file: off }, on, fresh],
  ];
  for (const [what, stored, file, expected] of rows)
    verifies('HEALTH-3', what, () => {
      expect(recallRecord(stored, file)).toMatchObject(expected);
      expect(recallRecord(stored, file).lastConnectedAt).toBe(stored?.lastConnectedAt);
    });
});

test('the order of keys in an entry says nothing, everything else does', () => {
  expect(fileEntry({ env: { Y: 'y', X: '${X}' }, command: 'a' }, true)).toEqual(on);
  expect(fileEntry({ command: 'a', env: { X: '${X}', Y: 'z' } }, true)).not.toEqual(on);
  expect(fileEntry({ args: ['a', 'b'] }, true)).not.toEqual(fileEntry({ args: ['b', 'a'] }, true));
});

test.each([[undefined], [null], [1], ['x'], [{}], [{ ...running, file: undefined }]])(
  'what is no record is none: %j',
  (value) => {
    expect(readRecord(value)).toBeUndefined();
  },
);

test('a record is one', () => {
  expect(readRecord(JSON.parse(JSON.stringify(auto)))).toEqual(auto);
  const { wasUnreachable: _, ...older } = auto;
  expect(readRecord(older)).toEqual(auto);
});
