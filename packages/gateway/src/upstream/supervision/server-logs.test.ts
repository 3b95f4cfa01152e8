import { expect, test } from 'vitest';
import { silentLog } from '../../log.ts';
import { Repeats, ServerLogs } from './server-logs.ts';

test('ServerLogs keeps the last 200 lines of each server in order, cut to 1000 characters', () => {
  let time = 0;
  const logs = new ServerLogs(() => time++);
  const said: string[] = [];
  const log = logs.keeping('a', { ...silentLog, info: (text) => void said.push(text) });
  for (let line = 0; line < 1000; line++) log.info(`line ${line}`);
  logs.keeping('b', silentLog).warn('x'.repeat(5000));
  expect(said).toHaveLength(1000);
  expect(logs.of('a')).toHaveLength(200);
  expect([logs.of('a')[0], logs.of('a').at(-1)]).toEqual([
    { at: 800, text: 'line 800' },
    { at: 999, text: 'line 999' },
  ]);
  expect(logs.of('b')[0]?.text).toHaveLength(1000);
  expect(logs.of('c')).toEqual([]);
});

test('the log of a server continues after a restart', () => {
  const logs = new ServerLogs(() => 0);
  logs.keeping('a', silentLog).error('one');
  logs.keeping('a', silentLog).error('two');
  expect(logs.of('a').map(({ text }) => text)).toEqual(['one', 'two']);
});

test('Repeats suppresses a text for ten minutes and then counts the repetitions', () => {
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

test('Repeats remembers a hundred texts', () => {
  const repeats = new Repeats(() => 0);
  for (let text = 0; text <= 100; text++) repeats.say(String(text));
  expect([repeats.say('1'), repeats.say('0')]).toEqual([undefined, '0']);
});
