import { expect, test } from 'vitest';
import { Owners } from './task-owners.ts';

test('M8: a server with too many task ids displaces its own oldest and none of other servers', () => {
  const forgotten: string[] = [];
  const owners = new Owners(3, (serverKey, id) => forgotten.push(`${serverKey} ${id}`));
  owners.note('honest', 'a', 'me');
  for (let i = 0; i < 5; i++) expect(owners.note('flood', `id ${i}`, 'you')).toBe(true);
  expect(owners.of('honest', 'a')).toBe('me');
  expect(owners.of('flood', 'id 1')).toBeUndefined();
  expect(owners.of('flood', 'id 4')).toBe('you');
  expect(forgotten).toEqual(['flood id 0', 'flood id 1']);
});

test('M8: a task id that is too long is not kept', () => {
  const owners = new Owners(3);
  const long = 'x'.repeat(10_000);
  expect(owners.note('s', long, 'me')).toBe(false);
  expect(owners.of('s', long)).toBeUndefined();
});
