// Rounds and retries against the parser: both must find the same in every spelling.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe } from 'vitest';
import { jsonText } from '../../../../tests/support/json-texts.ts';
import { parseJson } from '../../../../tests/support/parse-json.ts';
import { verifies } from '../../../../tests/verifies.ts';
import { RpcError } from '../errors.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { missingCapability } from './capabilities.ts';
import {
  withoutRetryMembers,
  readRetry,
  readRound,
  retryOf,
  roundResult,
  type Round,
} from './input-required.ts';
import { requiredUrlQuestions } from './url-elicitation.ts';

type Json = Record<string, unknown>;
type Texts = fc.Arbitrary<string>;

const RUNS = 3000;
const METHODS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
const KEYS = ['a', 'b', '1', '__proto__', 'constructor', 'é', 'a/b', ''];

/** A line has no line breaks. */
const anything: Texts = jsonText.map((text) => text.replaceAll(/[\r\n]/g, ' '));

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A key as it stands, or with its first letter escaped. */
function spelled(key: string): Texts {
  const code = key.charCodeAt(0).toString(16).padStart(4, '0');
  const escaped = key === '' ? '""' : `"\\u${code}${key.slice(1)}"`;
  return fc.constantFrom(JSON.stringify(key), JSON.stringify(key), escaped);
}

/** An object with some of these members, in any order, some of them twice. */
function object(members: Record<string, Texts>, maxLength = 5): Texts {
  const texts = Object.entries(members).map(([key, value]) =>
    fc.tuple(spelled(key), value).map(([k, v]) => `${k}:${v}`),
  );
  return fc.array(fc.oneof(...texts), { maxLength }).map((all) => `{${all.join(', ')}}`);
}

const either = (usual: Texts): Texts =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: anything });
const text = (...values: string[]): Texts => fc.constantFrom(...values.map((value) => JSON.stringify(value)));
const keyed = (value: Texts): Texts => object(Object.fromEntries(KEYS.map((key) => [key, either(value)])));

const question = object({
  method: either(text(...METHODS, 'x')),
  params: either(object({ mode: text('url') })),
  x: anything,
});
const round = object({
  resultType: text('input_required', 'input_required', 'input_required', 'complete'),
  inputRequests: either(keyed(question)),
  requestState: either(text('s', 'é "/')),
  x: anything,
});
const request = object({
  name: anything,
  inputResponses: either(keyed(object({ action: anything, content: anything }))),
  requestState: either(text('s', 'é "/')),
  _meta: object({ x: anything }),
});

function message(line: string): Message {
  const read = readMessage(Buffer.from(line));
  if (read.kind === 'invalid') throw new Error(`invalid: ${line}`);
  return read;
}

const answered = (result: string): Message => message(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
const failed = (error: string): Message => message(`{"jsonrpc":"2.0","id":1,"error":${error}}`);
const called = (params: string): Message =>
  message(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);

const parsed = (latin1: string): unknown => parseJson(Buffer.from(latin1, 'latin1').toString('utf8'));
const paramsOf = ({ bytes }: Message): Json => (parseJson(bytes.toString('utf8')) as { params: Json }).params;
const mapOf = (texts: Iterable<[string, string]>): Map<unknown, unknown> =>
  new Map(Array.from(texts, ([key, value]) => [parsed(key), parsed(value)]));

/** A copy without these members; own members only, whatever they are called. */
function without(value: Json, ...keys: string[]): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/** Reads the questions of a round from parsed JSON. */
function expectedRound(
  result: unknown,
): 'none' | 'bad' | { questions: Map<unknown, unknown>; state: unknown } {
  if (!isObject(result) || result['resultType'] !== 'input_required') return 'none';
  const requests = Object.hasOwn(result, 'inputRequests') ? result['inputRequests'] : undefined;
  const hasState = Object.hasOwn(result, 'requestState');
  if (requests === undefined ? !hasState : !isObject(requests)) return 'bad';
  const questions = new Map<unknown, unknown>();
  for (const [key, asked] of Object.entries(requests ?? {})) {
    if (!isObject(asked) || !METHODS.includes(asked['method'] as string)) return 'bad';
    const params = Object.hasOwn(asked, 'params') ? asked['params'] : {};
    if (!isObject(params)) return 'bad';
    questions.set(key, { method: asked['method'], params });
  }
  return { questions, state: hasState ? result['requestState'] : undefined };
}

function foundRound(found: Round | RpcError | undefined): ReturnType<typeof expectedRound> {
  if (found === undefined) return 'none';
  if (found instanceof RpcError) return 'bad';
  const questions = new Map(
    found.questions.map(({ key, method, params }) => [parsed(key), { method, params: parsed(params) }]),
  );
  return { questions, state: found.state === undefined ? undefined : parsed(found.state) };
}

function forAll(cases: Texts, check: (text: string) => void): void {
  fc.assert(fc.property(cases, check), { numRuns: RUNS });
}

describe('rounds', () => {
  verifies('ERA-2', 'readRound reads a round as a parser would', () => {
    forAll(either(round), (result) => {
      assert.deepEqual(foundRound(readRound(answered(result))), expectedRound(parseJson(result)));
    });
  });

  verifies('ERA-2', 'roundResult writes a round that readRound reads again', () => {
    forAll(round, (result) => {
      const found = readRound(answered(result));
      if (found === undefined || found instanceof RpcError) return;
      const written = answered(Buffer.from(roundResult(found), 'latin1').toString('utf8'));
      assert.deepEqual(foundRound(readRound(written)), foundRound(found));
    });
  });

  verifies('ERA-2', 'retryOf adds the answers and the state to a request and changes nothing else', () => {
    forAll(request, (params) => {
      const first = called(params);
      const responses = new Map([
        ['"a"', '{"n":12345678901234567890}'],
        ['"__proto__"', '{}'],
      ]);
      const again = paramsOf(retryOf(first, responses, '"state"'));
      const others = without(parseJson(params) as Json, 'inputResponses', 'requestState');
      assert.deepEqual(without(again, 'inputResponses', 'requestState'), others);
      assert.equal(again['requestState'], 'state');
      assert.deepEqual(Object.keys(again['inputResponses'] as Json), ['a', '__proto__']);
      assert.deepEqual(without(paramsOf(withoutRetryMembers(retryOf(first, responses, '"state"')))), others);
      assert.deepEqual(without(paramsOf(withoutRetryMembers(first))), others);
    });
  });

  verifies('ERA-2', 'readRetry reads answers and state as a parser would', () => {
    forAll(request, (params) => {
      const { inputResponses, requestState } = Object.fromEntries(without(parseJson(params) as Json));
      const answers = isObject(inputResponses) ? Object.entries(inputResponses) : [];
      const { responses, state } = readRetry(called(params));
      assert.deepEqual(mapOf(responses), new Map(answers.filter(([, answer]) => isObject(answer))));
      const isText = typeof requestState === 'string' || requestState === undefined;
      assert.equal(state, isText ? requestState : '');
    });
  });

  verifies(
    'ERA-2',
    "requiredUrlQuestions reads an error's URL elicitations where all of them have a URL",
    () => {
      const address = object({
        mode: text('url', 'form'),
        url: either(text('https://a/')),
        message: anything,
        elicitationId: text('e'),
      });
      const list = fc.array(either(address), { maxLength: 3 }).map((all) => `[${all.join(',')}]`);
      const data = object({ elicitations: either(list) });
      forAll(either(data), (found) => {
        const questions = requiredUrlQuestions(failed(`{"code":-32042,"message":"m","data":${found}}`));
        const value = parseJson(found);
        const all =
          isObject(value) && Object.hasOwn(value, 'elicitations') ? value['elicitations'] : undefined;
        const isUsable =
          Array.isArray(all) &&
          all.length > 0 &&
          all.every((one) => isObject(one) && typeof one['url'] === 'string');
        assert.equal(questions !== undefined, isUsable);
        const params = (Array.isArray(questions) ? questions : []).map((one) =>
          without(parsed(one.params) as Json),
        );
        const expected = (isUsable ? (all as Json[]) : []).map(
          (one) => new Map([...without(one, 'elicitationId', 'mode'), ['mode', 'url']]),
        );
        assert.deepEqual(params, expected);
      });
    },
  );

  verifies(
    'ERA-2',
    'missingCapability finds the capability that a client lacks, for any capabilities object',
    () => {
      const capability = object({ form: anything, url: anything, tools: anything });
      const capabilities = object({
        elicitation: either(capability),
        sampling: either(capability),
        roots: either(capability),
      });
      const params = object({ mode: text('url', 'form'), tools: anything });
      fc.assert(
        fc.property(fc.constantFrom(...METHODS), params, either(capabilities), (method, asked, offered) => {
          const lacking = missingCapability(
            method,
            Buffer.from(asked).toString('latin1'),
            Buffer.from(offered).toString('latin1'),
          );
          assert.equal(
            lacking === undefined,
            canBeAsked(method, parseJson(asked) as Json, parseJson(offered)),
          );
        }),
        { numRuns: RUNS },
      );
    },
  );
});

function canBeAsked(method: string, params: Json, offered: unknown): boolean {
  const capability = isObject(offered) ? offered[method.split('/')[0] ?? ''] : undefined;
  if (!isObject(capability)) return false;
  if (method === 'sampling/createMessage') return !('tools' in params) || 'tools' in capability;
  if (method === 'roots/list') return true;
  return params['mode'] === 'url' ? 'url' in capability : 'form' in capability || !('url' in capability);
}
