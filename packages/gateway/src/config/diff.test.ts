import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { configChanges, isNoChange } from './diff.ts';
import { ALLOW_LISTS, DENY_LISTS } from './tool-lists.ts';

const a = { command: 'a', args: ['1'] };
const b = { command: 'b' };

verifies('HEALTH-3', 'what is new, gone and different is told apart from the rest', () => {
  const changes = configChanges({ a, b, c: b }, { b, a: { ...a, args: ['2'] }, d: a });
  expect(changes).toEqual({ added: ['d'], removed: ['c'], changed: ['a'], adjusted: [] });
  expect(isNoChange(changes)).toBe(false);
});

verifies('HEALTH-3', 'order says nothing, and neither does it that an entry says it is on', () => {
  const changes = configChanges(
    { a, b },
    { b: { ...b, enabled: true }, a: { args: ['1'], command: 'a', disabled: false } },
  );
  expect(isNoChange(changes)).toBe(true);
});

verifies('HEALTH-3', 'one that is switched off is as good as none', () => {
  expect(
    configChanges({ a, b }, { a: { ...a, enabled: false }, b: { ...b, disabled: true } }).removed,
  ).toEqual(['a', 'b']);
  expect(configChanges({ a: { ...a, enabled: false } }, { a }).added).toEqual(['a']);
});

verifies('HEALTH-3', 'an entry with another time limit, name or filter needs no restart', () => {
  const lists = [...ALLOW_LISTS, ...DENY_LISTS].map((key) => ({ [key]: ['x'] }));
  const tools = { x: { timeout: 1000 }, y: { enabled: false } };
  for (const other of [...lists, { tools }, { timeout: 1000 }, { name: 'A' }]) {
    const { changed, adjusted } = configChanges({ a, b }, { a: { ...a, ...other }, b });
    expect([changed, adjusted]).toEqual([[], ['a']]);
  }
  const both = configChanges({ a }, { a: { command: 'c', tools: ['x'] } });
  expect([both.changed, both.adjusted]).toEqual([['a'], []]);
  expect(isNoChange(configChanges({ a }, { a: { ...a, tools: [] } }))).toBe(false);
});
