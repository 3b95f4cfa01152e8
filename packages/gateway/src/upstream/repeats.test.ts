import { expect, test } from 'vitest';
import { Repeats } from './repeats.ts';

test('a text is held back for ten minutes, then said with how often that was', () => {
  let time = 0;
  const repeats = new Repeats(() => time);
  expect(repeats.say('a')).toBe('a');
  time = 599_999;
  expect([repeats.say('a'), repeats.say('b'), repeats.say('a')]).toEqual([undefined, 'b', undefined]);
  time = 600_000;
  expect(repeats.say('a')).toBe('a (repeated 2 times before this)');
  time = 1_200_000;
  expect(repeats.say('a')).toBe('a');
});

test('a hundred texts are remembered', () => {
  const repeats = new Repeats(() => 0);
  for (let text = 0; text <= 100; text++) repeats.say(String(text));
  expect([repeats.say('1'), repeats.say('0')]).toEqual([undefined, '0']);
});
