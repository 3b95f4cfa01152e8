import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { configChanges, isNoChange } from './diff.ts';
import { ALLOW_LISTS, DENY_LISTS } from './tool-lists.ts';

const a = { command: 'a', args: ['1'] };
const b = { command: 'b' };

verifies('HEALTH-3', 'configChanges lists added, removed and changed servers', () => {
  const changes = configChanges({ a, b, c: b }, { b, a: { ...a, args: ['2'] }, d: a });
  expect(changes).toEqual({ added: ['d'], removed: ['c'], changed: ['a'], adjusted: [] });
  expect(isNoChange(changes)).toBe(false);
});

verifies('HEALTH-3', 'configChanges ignores the order of keys and an explicit "enabled"', () => {
  const changes = configChanges(
    { a, b },
    { b: { ...b, enabled: true }, a: { args: ['1'], command: 'a', disabled: false } },
  );
  expect(isNoChange(changes)).toBe(true);
});

verifies('HEALTH-3', 'configChanges treats a disabled server as absent', () => {
  expect(
    configChanges({ a, b }, { a: { ...a, enabled: false }, b: { ...b, disabled: true } }).removed,
  ).toEqual(['a', 'b']);
  expect(configChanges({ a: { ...a, enabled: false } }, { a }).added).toEqual(['a']);
});

verifies(
  'HEALTH-3',
  'configChanges reports a new timeout, name or filter as adjusted, without a restart',
  () => {
    const lists = [...ALLOW_LISTS, ...DENY_LISTS].map((key) => ({ [key]: ['x'] }));
    const tools = { x: { timeout: 1000 }, y: { enabled: false } };
    for (const other of [...lists, { tools }, { timeout: 1000 }, { name: 'A' }]) {
      const { changed, adjusted } = configChanges({ a, b }, { a: { ...a, ...other }, b });
      expect([changed, adjusted]).toEqual([[], ['a']]);
    }
    const both = configChanges({ a }, { a: { command: 'c', tools: ['x'] } });
    expect([both.changed, both.adjusted]).toEqual([['a'], []]);
    expect(isNoChange(configChanges({ a }, { a: { ...a, tools: [] } }))).toBe(false);
  },
);
