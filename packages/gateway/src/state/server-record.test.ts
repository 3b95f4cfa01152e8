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

describe('the record of a server at the next start', () => {
  const fresh = { enabled: true, autoDisabled: false, failureCount: 0 };
  const rows: [string, StoredRecord | undefined, typeof on, object][] = [
    ['a server without a record is new', undefined, on, fresh],
    [
      'a server without a record that the file disables is disabled',
      undefined,
      off,
      { ...fresh, enabled: false },
    ],
    ['a server that ran keeps its failure count', running, on, { enabled: true, failureCount: 2 }],
    ['a server whose entry has changed is new', running, changed, fresh],
    ['a disabled server stays disabled', disabled, on, { enabled: false, autoDisabled: false }],
    ['a disabled server stays disabled when its entry has changed', disabled, changed, { enabled: false }],
    [
      'an automatically disabled server stays disabled',
      auto,
      on,
      { enabled: false, autoDisabled: true, autoDisabledAt: 9 },
    ],
    [
      'an automatically disabled server keeps the reason',
      { ...auto, lastError: 'why' },
      on,
      { lastError: 'why' },
    ],
    ['an automatically disabled server is new when its entry has changed', auto, changed, fresh],
    [
      'an automatically disabled server is new where it was unreachable',
      { ...auto, wasUnreachable: true },
      on,
      fresh,
    ],
    [
      'a server that was unreachable keeps its failure count',
      { ...running, wasUnreachable: true },
      on,
      { failureCount: 2, wasUnreachable: true },
    ],
    [
      'a server that the file now disables is disabled',
      running,
      off,
      { enabled: false, autoDisabled: false },
    ],
    ['a server that the file no longer disables is enabled', { ...disabled, file: off }, on, fresh],
  ];
  for (const [what, stored, file, expected] of rows)
    verifies('HEALTH-3', what, () => {
      expect(recallRecord(stored, file)).toMatchObject(expected);
      expect(recallRecord(stored, file).lastConnectedAt).toBe(stored?.lastConnectedAt);
    });
});

test('fileEntry ignores the order of keys in an entry and nothing else', () => {
  expect(fileEntry({ env: { Y: 'y', X: '${X}' }, command: 'a' }, true)).toEqual(on);
  expect(fileEntry({ command: 'a', env: { X: '${X}', Y: 'z' } }, true)).not.toEqual(on);
  expect(fileEntry({ args: ['a', 'b'] }, true)).not.toEqual(fileEntry({ args: ['b', 'a'] }, true));
});

test.each([[undefined], [null], [1], ['x'], [{}], [{ ...running, file: undefined }]])(
  'readRecord rejects %j',
  (value) => {
    expect(readRecord(value)).toBeUndefined();
  },
);

test('readRecord accepts a stored record, also without wasUnreachable', () => {
  expect(readRecord(JSON.parse(JSON.stringify(auto)))).toEqual(auto);
  const { wasUnreachable: _, ...older } = auto;
  expect(readRecord(older)).toEqual(auto);
});
