import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { NO_ACCOUNT } from './account.ts';
import { LineWriter } from './writer.ts';

/** A stream that takes its chunks only after `open`. */
class Sluice extends Writable {
  readonly chunks: Buffer[] = [];
  #open: boolean;
  #waiting: (() => void) | undefined;

  constructor(isOpen: boolean) {
    super({ highWaterMark: 100 });
    this.#open = isOpen;
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#take([chunk], done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#take(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  #take(chunks: Buffer[], done: () => void): void {
    this.chunks.push(Buffer.concat(chunks));
    if (this.#open) done();
    else this.#waiting = done;
  }

  open(): void {
    this.#open = true;
    this.#waiting?.();
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the line writer', () => {
  test('the line writer sends the lines of one tick in one write, in order', async () => {
    const stream = new Sluice(true);
    const writer = new LineWriter(stream, NO_ACCOUNT);
    writer.write('a');
    writer.write(['b1', Buffer.from('b2'), 'b3']);
    writer.write([Buffer.from('c')]);
    writer.write('d');
    expect(stream.chunks).toEqual([]);
    await tick();
    expect(stream.text).toBe('a\nb1b2b3\nc\nd\n');
    expect(stream.chunks).toHaveLength(1);
    writer.write('e');
    await tick();
    expect(stream.chunks).toHaveLength(2);
  });

  test('the line writer sends each character of a string as one byte', async () => {
    const stream = new Sluice(true);
    new LineWriter(stream, NO_ACCOUNT).write(Buffer.from('é😀').toString('latin1'));
    await tick();
    expect(stream.text).toBe('é😀\n');
  });

  test('the line writer sends its lines at once when it is flushed', () => {
    const stream = new Sluice(true);
    const writer = new LineWriter(stream, NO_ACCOUNT);
    writer.write('a');
    writer.flush();
    expect(stream.text).toBe('a\n');
  });

  test('the line writer drops lines for a stream that has ended or is destroyed', async () => {
    for (const stop of [(stream: Writable) => stream.end(), (stream: Writable) => stream.destroy()]) {
      const stream = new Sluice(true);
      const writer = new LineWriter(stream, NO_ACCOUNT);
      stop(stream);
      writer.write('a');
      writer.write([Buffer.from('b')]);
      await tick();
      expect([stream.text, writer.backlog]).toEqual(['', 0]);
    }
  });
});

describe('a reader that falls behind', () => {
  test('the line writer reports a full stream once, and once that it is empty again', async () => {
    const stream = new Sluice(false);
    const states: boolean[] = [];
    const writer = new LineWriter(stream, NO_ACCOUNT, (full) => states.push(full));
    writer.write('x'.repeat(50));
    await tick();
    expect(states).toEqual([]);
    for (let i = 0; i < 3; i++) {
      writer.write([Buffer.alloc(50, 'y')]);
      await tick();
    }
    expect(states).toEqual([true]);
    stream.open();
    await tick();
    expect(states).toEqual([true, false]);
    expect(stream.text).toBe(`${'x'.repeat(50)}\n${`${'y'.repeat(50)}\n`.repeat(3)}`);
  });

  test('the backlog of the line writer is its unwritten bytes without the largest line', async () => {
    const stream = new Sluice(false);
    const writer = new LineWriter(stream, NO_ACCOUNT);
    writer.write('abc');
    expect(writer.backlog).toBe(4);
    writer.write(['d', Buffer.from('ef')]);
    expect(writer.backlog).toBe(5);
    await tick();
    expect(writer.backlog).toBe(5);
    writer.write('g');
    expect(writer.backlog).toBe(7);
    stream.open();
    await tick();
    expect(writer.backlog).toBe(0);
  });
});
