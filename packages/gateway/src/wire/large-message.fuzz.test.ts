import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { LargeMessage } from './large-message.ts';
import { readMessage, type Message, type InvalidInput } from './message.ts';

/** Reads a line in parts, and counts them. */
function inParts(line: Buffer): { readonly message: Message | InvalidInput; readonly parts: number } {
  const large = new LargeMessage(line);
  for (let parts = 1; ; parts++) {
    const message = large.next();
    if (message !== undefined) return { message, parts };
  }
}

/** All that is understood of a message. */
function positionsIn(message: Message | InvalidInput): unknown {
  if (message.kind === 'invalid') return message.kind;
  const { bytes: _bytes, params, meta, body, ...head } = message;
  return { ...head, params: params?.flat, meta: meta?.flat, body: body?.flat };
}

const value = fc.json({ maxDepth: 6 });
const long = fc
  .tuple(value, fc.integer({ min: 1, max: 60_000 }))
  .map(([text, times]) => `[${`${text},`.repeat(times)}0]`.slice(0, 4_000_000));

verifies('SAFE-4', 'H2: a line that is read in parts gives the same message as in one part', () => {
  const lines = fc.tuple(fc.constantFrom('result', 'error', 'params', 'x'), long, value, fc.boolean());
  fc.assert(
    fc.property(lines, ([member, body, rest, isMethod]) => {
      const method = isMethod ? '"method":"m",' : '';
      const line = Buffer.from(
        `{"jsonrpc":"2.0",${method}"${member}":{"a":${rest},"b":${body}},"c":${body},"id":1}`,
      );
      const [whole, { message }] = [readMessage(line), inParts(line)];
      const isPlain = whole.kind !== 'invalid' && whole.bytes === line;
      if (isPlain) assert.deepEqual(positionsIn(message), positionsIn(whole));
      else assert.ok(message.kind === 'invalid' || message.kind === whole.kind);
    }),
    { numRuns: 60 },
  );
});

verifies('AGG-CALL-1', 'a line of 1 MiB whose keys are escaped is read like a short one', () => {
  const line = Buffer.from(`{"jsonrpc":"2.0","\\u0069d":7,"result":{"a":"${'x'.repeat(1024 * 1024)}"}}`);
  expect(inParts(line).message).toMatchObject({ kind: 'response', id: '7' });
});

verifies('SAFE-4', 'H2: a line of 8 MiB takes at least 32 parts, valid or not', () => {
  const numbers = '1,'.repeat(4 * 1024 * 1024);
  const [good, bad] = ['1', 'x'].map((last) =>
    inParts(Buffer.from(`{"jsonrpc":"2.0","id":7,"result":{"a":[${numbers}${last}]}}`)),
  );
  expect(good).toMatchObject({ message: { kind: 'response', id: '7' } });
  expect(good?.parts).toBeGreaterThanOrEqual(32);
  expect(bad).toMatchObject({ message: { kind: 'invalid', id: '7', likelyKind: 'response' } });
  expect(bad?.parts).toBeGreaterThanOrEqual(64);
});
