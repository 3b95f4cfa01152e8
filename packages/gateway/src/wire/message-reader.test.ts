import { describe, expect, test } from 'vitest';
import { MessageReader } from './message-reader.ts';
import { inSlice } from './slices.ts';
import { Flow } from './turns.ts';

const PART: Buffer = Buffer.alloc(100_000, '{');

/** Reads part of a line from a peer, and returns the flow that was charged. */
function readPart(isAwaited?: () => boolean): Flow {
  const flow = new Flow();
  const reader = new MessageReader(2 * PART.length, {
    message() {},
    invalid() {},
    oversized() {},
    ended() {},
    failed() {},
    ...(isAwaited && { isAwaited }),
  });
  inSlice('test', flow, () => {
    reader.begin(PART);
    while (reader.next());
  });
  return flow;
}

describe('the bytes of an incomplete line', () => {
  test('the bytes of an incomplete line are charged to the slice as they are read', () => {
    expect(readPart().spent).toBe(PART.length);
  });

  test('the bytes of an incomplete line count as unsolicited where no answer is awaited', () => {
    expect(readPart(() => false).unsolicited).toBe(PART.length);
    expect(readPart(() => true).unsolicited).toBe(0);
  });

  test('the bytes of an incomplete line do not count as unsolicited where isAwaited is missing', () => {
    expect(readPart().unsolicited).toBe(0);
  });
});
