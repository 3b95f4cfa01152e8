// @module-tag slow
// Thousands of random and broken lines from either side: the gateway answers or ignores them, and mixes nothing up.
import { isUtf8 } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  fixture,
  startWeir,
  temporaryFolder,
  textOf,
  type Received,
  type Weir,
} from '../../support/harness.ts';
import { lineBytes } from '../../support/json-texts.ts';
import { parseJson } from '../../support/parse-json.ts';
import { verifies } from '../../verifies.ts';

/** Each run tries other lines; a failure is repeated with the seed in its title. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const LINES = 10_000;
/** Small, so that some lines are over it. */
const LIMIT = 65_536;

/** Random lines; one in a thousand is over the limit. */
function fuzz(count: number, seed: number): Buffer[] {
  return fc.sample(lineBytes, { numRuns: count, seed }).map((bytes, i) => {
    const line = Buffer.from(bytes.toString('latin1').replaceAll('\n', ' '), 'latin1');
    return i % 1000 === 999 ? oversized(`over ${i}`) : line;
  });
}

function oversized(id: string): Buffer {
  const params = { name: 'b:echo', arguments: { text: '\\"{['.repeat(LIMIT / 4) } };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'tools/call', params, id }));
}

/** Calls both servers with a text of its own; both must come back with it. */
function sendCanaries(weir: Weir, number: number): void {
  for (const server of ['a', 'b']) {
    const name = `canary ${server} ${number}`;
    weir.send({
      id: name,
      method: 'tools/call',
      params: { name: `${server}:echo`, arguments: { text: name } },
    });
  }
}

async function expectCanaries(weir: Weir, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => [`canary a ${i}`, `canary b ${i}`]).flat();
  const answers = await Promise.all(names.map((name) => weir.answer(name)));
  expect(answers.map(textOf)).toEqual(names);
  const seen = weir.messages.map(({ id }) => id).filter((id) => String(id).startsWith('canary'));
  expect(seen).toHaveLength(names.length);
}

/** Everything on stdout is a JSON-RPC message, and the gateway ends as asked. */
async function expectInOrder(weir: Weir): Promise<void> {
  const { code, stdout, stderr } = await weir.close();
  const lines = stdout.split('\n').slice(0, -1);
  expect(lines.filter((line) => !isJsonRpc(line)).slice(0, 5)).toEqual([]);
  expect(stderr).not.toContain('Unexpected error');
  expect(code).toBe(0);
}

function isJsonRpc(line: string): boolean {
  const message = parse(line) as Received | undefined;
  if (message?.jsonrpc !== '2.0') return false;
  const hasId = typeof message.id === 'string' || typeof message.id === 'number';
  if (message.method !== undefined)
    return typeof message.method === 'string' && (hasId || message.id === undefined);
  if (!hasId || 'result' in message === 'error' in message) return false;
  return (
    message.error === undefined ||
    (Number.isInteger(message.error.code) && typeof message.error.message === 'string')
  );
}

function parse(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** Counts how often each id occurs. */
function countIds(messages: readonly Received[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of messages)
    counts.set(`${typeof id} ${id}`, (counts.get(`${typeof id} ${id}`) ?? 0) + 1);
  return counts;
}

/** A request with a longer id counts as no message; the limit of 4,096 bytes counts escapes as they are written. */
const LONGEST_ID = Math.floor((4096 - '""'.length) / '\\u0000'.length);
const OWN_METHODS = ['tools/list', 'ping', 'x/unknown'];

/** A request that the gateway answers by itself, at once; what it passes on may be cancelled by another of the lines. */
function isOwnRequest(message: unknown): message is Received {
  const { jsonrpc, method, id, params = {} } = (message ?? {}) as Received;
  const hasId = (typeof id === 'string' && id.length <= LONGEST_ID) || typeof id === 'number';
  const hasParams = typeof params === 'object' && params !== null && !Array.isArray(params);
  return jsonrpc === '2.0' && hasId && hasParams && OWN_METHODS.includes(method ?? '');
}

describe(`seed ${SEED}`, () => {
  verifies(
    ['AGG-CALL-1', 'AGG-CLI-2'],
    'the gateway survives 10,000 random and mutated lines from a client',
    async () => {
      await using weir = startWeir(
        { a: fixture('echo'), b: fixture('modern') },
        { args: ['--max-message-size', String(LIMIT)] },
      );
      await weir.tools();
      const lines = fuzz(LINES, SEED);
      for (const [i, line] of lines.entries()) {
        weir.send(line);
        if (i % 20 === 0) sendCanaries(weir, i / 20);
      }
      await expectCanaries(weir, LINES / 20);
      const answers = countIds(weir.messages.filter(({ method }) => method === undefined));
      const asked = countIds(
        lines
          .filter((line) => isUtf8(line))
          .map((line) => parse(line.toString()))
          .filter(isOwnRequest),
      );
      expect(asked.size).toBeGreaterThan(10);
      expect([...asked].filter(([id, count]) => (answers.get(id) ?? 0) < count)).toEqual([]);
      for (const id of Array.from({ length: LINES / 1000 }, (_, i) => `over ${i * 1000 + 999}`)) {
        expect((await weir.answer(id)).error?.message).toContain('over the limit');
      }
      await expectInOrder(weir);
    },
    120_000,
  );

  verifies(
    ['AGG-CALL-1', 'AGG-CLI-2'],
    'the gateway survives 10,000 random and mutated lines from a server',
    async () => {
      const file = join(temporaryFolder(), 'lines');
      writeFileSync(
        file,
        Buffer.concat(fuzz(1.2 * LINES, SEED).flatMap((line) => [line, Buffer.from('\n')])),
      );
      const servers = { a: fixture('fuzz-lines', file, '6'), b: fixture('echo') };
      await using weir = startWeir(servers, { args: ['--max-message-size', String(LIMIT)] });
      await weir.tools();
      const rounds = LINES / 8;
      for (let i = 0; i < rounds; i++) sendCanaries(weir, i);
      await expectCanaries(weir, rounds);
      const written = textOf(await weir.callTool('a:written'));
      expect(Number(written)).toBeGreaterThanOrEqual(LINES);
      await expectInOrder(weir);
    },
    120_000,
  );
});
