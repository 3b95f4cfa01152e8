import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { EventStream } from './event-stream.ts';

/** A response that is not read until the test reads it. */
function response(): ServerResponse & PassThrough {
  return Object.assign(new PassThrough({ highWaterMark: 1 }), {
    writeHead: () => {},
    req: { socket: { writableNeedDrain: false } },
  }) as unknown as ServerResponse & PassThrough;
}

function written(res: PassThrough): string {
  let text = '';
  for (let chunk = res.read() as Buffer | null; chunk !== null; chunk = res.read() as Buffer | null)
    text += String(chunk);
  return text;
}

test('an event stream writes an event as one line of data, from a text or from parts', () => {
  const res = response();
  const stream = new EventStream(res);
  stream.prime('1_0');
  stream.event(Buffer.from('{"a":"ü"}').toString('latin1'), '1_1');
  stream.event(['{"b":', Buffer.from('"€"'), '}']);
  expect(written(res)).toBe(
    'id: 1_0\nretry: 1000\ndata: \n\nid: 1_1\ndata: {"a":"ü"}\n\ndata: {"b":"€"}\n\n',
  );
});

test('a silent event stream sends a comment every 15 s', () => {
  const res = response();
  const stream = new EventStream(res);
  for (let second = 0; second < 30; second++) stream.beat();
  expect(written(res)).toBe(':\n\n:\n\n');
  for (let second = 0; second < 14; second++) stream.beat();
  stream.event('{}');
  for (let second = 0; second < 14; second++) stream.beat();
  expect(written(res)).toBe('data: {}\n\n');
});
