import { expect, test } from 'vitest';
import { lineBytes, type Line } from '../../wire/json/splice.ts';
import { EventStream } from './event-stream.ts';
import type { OutgoingResponse } from './server/outgoing-response.ts';

/** A response that keeps what is written. */
function response(): { res: OutgoingResponse; written: () => string } {
  let text = '';
  const write = (part: Line): void => void (text += lineBytes(part).toString());
  const res = { start: () => {}, write, unread: 0, isOver: false } as unknown as OutgoingResponse;
  return { res, written: () => text };
}

test('an event stream writes an event as one line of data, from a text or from parts', () => {
  const { res, written } = response();
  const stream = new EventStream(res);
  stream.prime('1_0');
  stream.event(Buffer.from('{"a":"ü"}').toString('latin1'), '1_1');
  stream.event(['{"b":', Buffer.from('"€"'), '}']);
  expect(written()).toBe('id: 1_0\nretry: 1000\ndata: \n\nid: 1_1\ndata: {"a":"ü"}\n\ndata: {"b":"€"}\n\n');
});

test('a silent event stream sends a comment every 15 s', () => {
  const { res, written } = response();
  const stream = new EventStream(res);
  for (let second = 0; second < 30; second++) stream.beat();
  expect(written()).toBe(':\n\n:\n\n');
  for (let second = 0; second < 14; second++) stream.beat();
  stream.event('{}');
  for (let second = 0; second < 14; second++) stream.beat();
  expect(written()).toBe(':\n\n:\n\ndata: {}\n\n');
});
