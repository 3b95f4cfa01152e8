import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { NO_ACCOUNT } from './account.ts';
import { openLink, type Link } from './link.ts';

interface Opened {
  readonly link: Link;
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** Reports of the link, in order. */
  readonly told: string[];
}

function open(maxMessageSize = 100): Opened {
  const [input, output, told] = [new PassThrough(), new PassThrough({ highWaterMark: 10 }), [] as string[]];
  const link = openLink(
    { input, output, maxMessageSize, account: NO_ACCOUNT },
    {
      message: ({ kind, id }) => told.push(`${kind} ${id}`),
      invalid: ({ reason }) => told.push(reason),
      oversized: ({ id, size }) => told.push(`oversized ${id} ${size}`),
      ended: () => told.push('ended'),
      failed: ({ message }) => told.push(`failed ${message}`),
      full: (full) => told.push(full ? 'full' : 'empty'),
    },
  );
  return { link, input, output, told };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"m"}';

describe('a link', () => {
  test('a link reports the kind of each line and the end of its input', async () => {
    const { input, told } = open();
    input.write(`${REQUEST}\nnoise\r\n\n{"jsonrpc":"2.0","method":"n"}\n[]\n`);
    input.write(`{"id":7,"result":"${'x'.repeat(100)}"}\n{"jsonrpc":"2.0","id":2,"result":{}}`);
    input.end();
    await tick();
    expect(told).toEqual([
      'request 1',
      'not-json',
      'notification ',
      'batch',
      'oversized 7 120',
      'response 2',
      'ended',
    ]);
  });

  test.each([
    ['an end', (input: PassThrough) => void input.end()],
    ['a close', (input: PassThrough) => void input.destroy()],
    ['an error', (input: PassThrough) => void input.destroy(new Error('broken'))],
  ])('a link reports its end once after %s of its input', async (_, stop) => {
    const { input, told } = open();
    stop(input);
    await tick();
    await tick();
    expect(told).toEqual(['ended']);
  });

  test('a paused link holds back messages until it is resumed', async () => {
    const { link, input, told } = open();
    link.pause();
    input.write(`${REQUEST}\n`);
    await tick();
    expect(told).toEqual([]);
    link.resume();
    await tick();
    expect(told).toEqual(['request 1']);
  });

  test('a link sends lines, counts unwritten bytes and reports when its output is full and empty again', async () => {
    const { link, output, told } = open();
    link.send('{"a":"a long line"}');
    expect(link.backlog).toBe(20);
    await tick();
    expect(told).toEqual(['full']);
    expect((output.read() as Buffer).toString()).toBe('{"a":"a long line"}\n');
    await tick();
    expect([told, link.backlog]).toEqual([['full', 'empty'], 0]);
  });

  test('a link that is closed sends the lines before that and drops later ones', async () => {
    const { link, output } = open();
    link.send('1');
    link.close();
    link.send('2');
    await tick();
    expect((output.read() as Buffer).toString()).toBe('1\n');
    expect(output.writableEnded).toBe(true);
  });

  test('a link still reads its input after its output breaks', async () => {
    const { link, output, input, told } = open();
    output.destroy(new Error('EPIPE'));
    link.send('1');
    await tick();
    input.write(`${REQUEST}\n`);
    await tick();
    expect(told).toEqual(['request 1']);
  });
});
