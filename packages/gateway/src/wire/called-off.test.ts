import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { CalledOff } from './called-off.ts';

verifies('ERA-2', 'what was called off is remembered for a while, or until it is answered after all', () => {
  let now = 0;
  const calledOff = new CalledOff(() => now);
  calledOff.note(1, 'Ann');
  now = 2000;
  calledOff.note(2, 'Bob');
  calledOff.note(3, 'Eve');
  expect([calledOff.of(), calledOff.of(2), calledOff.of(4)]).toEqual([['Ann', 'Bob', 'Eve'], ['Bob'], []]);
  calledOff.answered(3);
  now = 5000;
  expect(calledOff.of()).toEqual(['Bob']);
  now = 7000;
  expect(calledOff.of()).toEqual([]);
});
