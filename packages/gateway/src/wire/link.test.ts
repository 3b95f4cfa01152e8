import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { NO_ACCOUNT } from './account.ts';
import { openLink, type Link } from './link.ts';

interface Opened {
  readonly link: Link;
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** What the link told, in order. */
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
  test('tells of each line what it is', async () => {
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
    ['ends', (input: PassThrough) => void input.end()],
    ['is closed', (input: PassThrough) => void input.destroy()],
    ['breaks', (input: PassThrough) => void input.destroy(new Error('broken'))],
  ])('tells once that its input %s', async (_, stop) => {
    const { input, told } = open();
    stop(input);
    await tick();
    await tick();
    expect(told).toEqual(['ended']);
  });

  test('holds back what comes while it is paused', async () => {
    const { link, input, told } = open();
    link.pause();
    input.write(`${REQUEST}\n`);
    await tick();
    expect(told).toEqual([]);
    link.resume();
    await tick();
    expect(told).toEqual(['request 1']);
  });

  test('sends lines and knows how much is not taken yet', async () => {
    const { link, output, told } = open();
    link.send('{"a":"a long line"}');
    expect(link.backlog).toBe(20);
    await tick();
    expect(told).toEqual(['full']);
    expect((output.read() as Buffer).toString()).toBe('{"a":"a long line"}\n');
    await tick();
    expect([told, link.backlog]).toEqual([['full', 'empty'], 0]);
  });

  test('sends its last lines before it closes', async () => {
    const { link, output } = open();
    link.send('1');
    link.close();
    link.send('2');
    await tick();
    expect((output.read() as Buffer).toString()).toBe('1\n');
    expect(output.writableEnded).toBe(true);
  });

  test('outlives an output that breaks', async () => {
    const { link, output, input, told } = open();
    output.destroy(new Error('EPIPE'));
    link.send('1');
    await tick();
    input.write(`${REQUEST}\n`);
    await tick();
    expect(told).toEqual(['request 1']);
  });
});
