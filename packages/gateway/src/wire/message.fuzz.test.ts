// The scan against the parser: both must find the same in every line.
import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { test } from 'vitest';
import {
  idText,
  inChunks,
  jsonText,
  lineBytes,
  messageText,
  mutated,
} from '../../../../tests/support/json-texts.ts';
import { parseJson } from '../../../../tests/support/parse-json.ts';
import { verifies } from '../../../../tests/verifies.ts';
import { findMember, readMembers, stringValue, type Members } from './json/members.ts';
import { validateValue, skipSpace, skipValue } from './json/scan.ts';
import {
  changeMembers,
  encode,
  lineBytes as bytesOf,
  replaceValue,
  splice,
  type Edit,
} from './json/splice.ts';
import { LineReader } from './lines.ts';
import { readMessage, type Message, type InvalidInput } from './message.ts';
import { OversizedLine, readPartialHead } from './oversized.ts';

type Json = Record<string, unknown>;

const RUNS = 20_000;

/** Cases as strings of bytes, which a failure can print. */
const lines = lineBytes.map((bytes) => bytes.toString('latin1'));
const messages = messageText.map((text) => Buffer.from(text).toString('latin1'));

/** Runs a property; a failure names its seed and the smallest case that still fails. */
function forAll<T>(cases: fc.Arbitrary<T>, check: (one: T) => void, numRuns: number = RUNS): void {
  fc.assert(fc.property(cases, check), { numRuns });
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses as a strict reader does: undefined for bytes that are not UTF-8 and for what is not JSON. */
function parse(bytes: Buffer): unknown {
  try {
    return parseJson(strictUtf8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** A text as bytes that begin anywhere in a word, behind something that would matter if it were looked at. */
function latin1(text: string): Buffer {
  const shift = text.length % 4;
  return Buffer.from('"'.repeat(shift) + text, 'latin1').subarray(shift);
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isId = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Returns the kind of a parsed line. */
function kindOf(line: unknown): (Message | InvalidInput)['kind'] {
  if (!isObject(line) || line['jsonrpc'] !== '2.0') return 'invalid';
  const hasId = Object.hasOwn(line, 'id');
  if (hasId && !isId(line['id'])) return 'invalid';
  if (Object.hasOwn(line, 'method')) {
    if (typeof line['method'] !== 'string') return 'invalid';
    if (Object.hasOwn(line, 'params') && !isObject(line['params'])) return 'invalid';
    return hasId ? 'request' : 'notification';
  }
  const bodies = ['result', 'error'].filter((key) => Object.hasOwn(line, key));
  if (!hasId || bodies.length !== 1) return 'invalid';
  return bodies[0] === 'result' || isError(line['error']) ? 'response' : 'invalid';
}

function isError(value: unknown): boolean {
  return isObject(value) && typeof value['code'] === 'number' && typeof value['message'] === 'string';
}

/** The id may be longer than those that are answered under, which counts escapes as they are written. */
function hasLongId(parsed: unknown): boolean {
  return (
    isObject(parsed) && typeof parsed['id'] === 'string' && parsed['id'].length > 4096 / '\\u0000'.length
  );
}

verifies('AGG-CALL-1', 'H5: readMessage reads a line as a strict decoder and parser would', () => {
  forAll(lines, (line) => {
    const bytes = latin1(line);
    const parsed = parse(bytes);
    const message = readMessage(bytes);
    if (hasLongId(parsed)) return;
    assert.equal(message.kind, kindOf(parsed));
    if (message.kind === 'invalid') return expectSameIdea(message, parsed);
    expectSameMessage(message, parsed as Json);
  });
});

function expectSameIdea({ id, likelyKind, reason }: InvalidInput, parsed: unknown): void {
  if (parsed === undefined) return assert.notEqual(reason, 'not-a-message');
  assert.equal(reason, Array.isArray(parsed) ? 'batch' : 'not-a-message');
  const known = isObject(parsed) ? parsed : {};
  assert.deepEqual(
    id === undefined ? undefined : parse(latin1(id)),
    isId(known['id']) ? known['id'] : undefined,
  );
  const isBare = known['jsonrpc'] === '2.0' && isId(known['id']);
  const isResponse = isBare || Object.hasOwn(known, 'result') || Object.hasOwn(known, 'error');
  assert.equal(likelyKind, Object.hasOwn(known, 'method') ? 'request' : isResponse ? 'response' : undefined);
}

function expectSameMessage(message: Message, parsed: Json): void {
  const { bytes, id, method, params, meta, bodyAt, bodyEnd } = message;
  assert.deepEqual(parse(bytes), parsed);
  assert.equal(bytes.includes('\n') || bytes.includes('\r'), false);
  assert.deepEqual(id === '' ? undefined : parse(latin1(id)), parsed['id']);
  assert.equal(method, parsed['method'] ?? '');
  if (message.kind === 'response') {
    assert.deepEqual(
      parse(bytes.subarray(bodyAt, bodyEnd)),
      message.isError ? parsed['error'] : parsed['result'],
    );
    return;
  }
  const sent = parsed['params'] as Json | undefined;
  expectSameMembers(params, sent);
  expectSameMembers(meta, isObject(sent?.['_meta']) ? sent['_meta'] : undefined);
  const name = sent?.['name'];
  assert.equal(params && stringValue(params, 'name'), typeof name === 'string' ? name : undefined);
}

/** Each key once, each value where it stands. */
function expectSameMembers(members: Members | undefined, object: Json | undefined): void {
  assert.equal(members === undefined, object === undefined);
  if (members === undefined || object === undefined) return;
  assert.deepEqual(keysOf(members).toSorted(), Object.keys(object).toSorted());
  for (const key of Object.keys(object)) {
    const m: number = keysOf(members).indexOf(key) * 4;
    assert.deepEqual(parse(members.bytes.subarray(members.flat[m + 2], members.flat[m + 3])), object[key]);
  }
}

function keysOf({ bytes, flat }: Members): string[] {
  const starts = Array.from({ length: flat.length / 4 }, (_, i) => i * 4);
  return starts.map((m) => JSON.parse(`"${bytes.toString('utf8', flat[m], flat[m + 1])}"`) as string);
}

test('the generated lines contain every kind of message', () => {
  const counts = new Map<string, number>();
  for (const line of fc.sample(lines, 2000)) {
    const { kind } = readMessage(latin1(line));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  for (const kind of ['request', 'notification', 'response', 'invalid'])
    assert.ok((counts.get(kind) ?? 0) > 100, kind);
});

verifies('AGG-CALL-1', 'the scan and the parser agree on which texts are JSON and where a value ends', () => {
  const texts = fc
    .oneof(
      jsonText.map((text) => Buffer.from(text)),
      mutated(jsonText),
    )
    .map((bytes) => bytes.toString('latin1'));
  // Line breaks are judged where a whole message is read.
  const onOneLine = texts.map((text) => text.replaceAll(/[\r\n]/gu, ' '));
  forAll(onOneLine, (text) => {
    const bytes = latin1(text);
    const isJson = parse(bytes) !== undefined;
    const at = skipSpace(bytes, 0);
    assert.equal(isUtf8(bytes) && skipSpace(bytes, validateValue(bytes, at)) === bytes.length, isJson);
    if (isJson) assert.equal(skipSpace(bytes, skipValue(bytes, at)), bytes.length);
  });
});

verifies('AGG-CALL-1', 'splicing changes the edited values and leaves every other byte as it is', () => {
  const cases = fc.record({
    line: messages,
    id: idText,
    name: fc.string(),
    token: fc.nat(),
    drop: fc.nat(3),
    add: fc.boolean(),
  });
  forAll(cases, ({ line, ...changes }) => {
    const message = readMessage(latin1(line));
    if (message.kind !== 'request') return;
    const { edits, expected } = changed(message, changes);
    const spliced = bytesOf(splice(message.bytes, edits));
    assert.deepEqual(parse(spliced), expected);
    assert.deepEqual(without(spliced, edits), untouched(message.bytes, edits));
    expectEachKeyOnce(spliced);
  });
});

interface Changes {
  readonly id: string;
  readonly name: string;
  readonly token: number;
  /** Number of members that are removed from `_meta`. */
  readonly drop: number;
  readonly add: boolean;
}

/** Returns the edits of the relay, and the message after them. */
function changed(
  message: Message,
  { id, name, token, drop, add }: Changes,
): { edits: Edit[]; expected: unknown } {
  const { bytes, idAt, params, meta } = message;
  const expected = parse(bytes) as { id: unknown; params?: Json & { _meta?: Json } };
  const newId = Buffer.from(id).toString('latin1');
  const edits: Edit[] = [{ start: idAt, end: idAt + message.id.length, text: newId }];
  expected.id = parse(latin1(newId));
  if (params !== undefined && findMember(params, 'name') >= 0) {
    edits.push(replaceValue(params, findMember(params, 'name'), encode(name)));
    expected.params!['name'] = name;
  }
  if (meta !== undefined) {
    const remove = ['progressToken', ...plainKeys(meta).slice(0, drop)];
    edits.push(...changeMembers(meta, remove, add ? `"progressToken":${token}` : ''));
    for (const key of remove) delete expected.params!._meta![key];
    if (add) expected.params!._meta!['progressToken'] = token;
  }
  return { edits, expected };
}

/** Keys that can be looked up as they stand. */
function plainKeys(members: Members): string[] {
  return keysOf(members).filter((key) => findMember(members, key) >= 0);
}

function untouched(bytes: Buffer, edits: readonly Edit[]): Buffer[] {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  const starts = [0, ...sorted.map(({ end }) => end)];
  return starts.map((start, i) => bytes.subarray(start, sorted[i]?.start ?? bytes.length));
}

/** The spliced bytes without the texts that were put in. */
function without(bytes: Buffer, edits: readonly Edit[]): Buffer[] {
  let grown = 0;
  const inserted = edits
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map(({ start, end, text }) => {
      const at = start + grown;
      grown += text.length - (end - start);
      return { start: at, end: at + text.length, text: '' };
    });
  return untouched(bytes, inserted);
}

function expectEachKeyOnce(line: Buffer): void {
  const top = readMembers(line, skipSpace(line, 0)) as Members;
  const known = keysOf(top).filter((key) => ['id', 'method', 'params', 'result', 'error'].includes(key));
  assert.deepEqual(known, [...new Set(known)]);
}

verifies('AGG-CALL-1', 'a message with two ids is relayed with one id', () => {
  const twice = fc.tuple(
    fc.constantFrom('"id"', '"\\u0069d"', '"i\\u0064"', '"\\u0069\\u0064"'),
    idText,
    fc.nat(3),
    idText,
  );
  forAll(twice, ([key, second, at, first]) => {
    const members = [`"id":${first}`, '"jsonrpc":"2.0"', '"result":{"id":7}'];
    members.splice(at, 0, `${key}:${second}`);
    const bytes = Buffer.from(`{${members.join(',')}}`);
    const message = readMessage(bytes) as Message;
    assert.equal(message.kind, 'response');
    assert.deepEqual(parse(latin1(message.id)), (parse(bytes) as Json)['id']);
    const line = bytesOf(
      splice(message.bytes, [{ start: message.idAt, end: message.idAt + message.id.length, text: '"mine"' }]),
    );
    expectEachKeyOnce(line);
    assert.equal((parse(line) as Json)['id'], 'mine');
  });
});

const chunkSizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 500 })), {
  minLength: 1,
  maxLength: 5,
});

verifies('AGG-CALL-1', 'an oversized line in chunks of any size has the id that the parser finds', () => {
  forAll(fc.tuple(lines, chunkSizes), ([line, sizes]) => {
    const bytes = latin1(line);
    const follower = new OversizedLine();
    for (const chunk of inChunks(bytes, sizes)) follower.push(chunk);
    const { id, likelyKind, size } = follower.end();
    assert.deepEqual({ id, likelyKind }, readPartialHead(bytes));
    assert.equal(size, bytes.length);
    if (id !== undefined) assert.equal(isId(parse(latin1(id))), true);
    const parsed = parse(bytes);
    // A longer id may be too long to be remembered.
    if (isObject(parsed) && bytes.length < 4096)
      assert.deepEqual(
        id === undefined ? undefined : parse(latin1(id)),
        isId(parsed['id']) ? parsed['id'] : undefined,
      );
  });
});

const BYTE_ORDER_MARK = /^\u00EF\u00BB\u00BF/u;

test('the line reader finds the same lines in chunks of any size', () => {
  forAll(
    fc.tuple(fc.array(lines, { maxLength: 5 }), chunkSizes, fc.constantFrom('\n', '\r\n')),
    ([texts, sizes, newline]) => {
      const sent = texts
        .map((text) => text.replaceAll(/\r*\n/gu, ' ').replace(/\r+$/u, ''))
        .filter((text) => text !== '');
      // A stream may begin with a byte order mark, which belongs to no line.
      const [first = '', ...others] = sent;
      const wanted = [first.replace(BYTE_ORDER_MARK, ''), ...others].filter((text) => text !== '');
      const found: string[] = [];
      const reader = new LineReader(1e6, {
        line: (bytes) => found.push(bytes.toString('latin1')),
        oversized() {},
      });
      for (const chunk of inChunks(latin1(sent.join(newline)), sizes)) reader.push(chunk);
      reader.end();
      assert.deepEqual(found, wanted);
    },
    RUNS / 4,
  );
});
