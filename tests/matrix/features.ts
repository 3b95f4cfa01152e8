// Features that must work between a client and a server, whatever lies between them. Each function proves one feature.
import { expect, vi } from 'vitest';
import {
  completion,
  contentsOf,
  greeting,
  odd,
  prompts,
  questions,
  resources,
  resourceTemplates,
  tools,
} from '../fixtures/matrix/offers.mjs';
import { rawAt } from '../fixtures/stdio.mjs';
import type { Era, Json, Received } from '../support/harness.ts';
import { ANSWERS, call, request, type Seat } from './seat.ts';

/** One cell of the matrix. */
export interface Cell {
  /** Unlike any other cell's. */
  readonly key: string;
  readonly seat: Seat;
  readonly client: { readonly era: Era; readonly transport: 'stdio' | 'http' | 'sse' };
  readonly upstream: { readonly era: Era; readonly transport: 'stdio' | 'http' | 'sse' };
  readonly isDirect: boolean;
}

export interface Feature {
  readonly prove: (cell: Cell) => Promise<void>;
  /** Why the cell cannot exist; `undefined` where it does. */
  readonly absent?: (cell: Omit<Cell, 'seat'>) => string | undefined;
}

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const BIG = 32 * 1024 * 1024;
const PATIENT = { timeout: 10_000, interval: 10 };
const notRawOverSse = ({ isDirect, upstream }: Omit<Cell, 'seat'>): string | undefined =>
  isDirect && upstream.transport === 'sse' ? "the SDK's SSE transport shows no bytes" : undefined;

export const features: Record<string, Feature> = {
  tools: { prove: listAndCallTools },
  'structured content': { prove: getStructuredContent },
  'unknown fields and exact numbers': { prove: keepEveryByte, absent: notRawOverSse },
  pagination: { prove: walkPages },
  resources: { prove: listAndReadResources },
  'resource templates': { prove: listAndReadTemplates },
  prompts: { prove: listAndGetPrompts },
  completion: { prove: completeArguments },
  logging: { prove: hearLogs },
  'all progress notifications': { prove: hearProgress },
  'cancellation by the client': { prove: cancelCall },
  'list_changed notifications': { prove: hearListChanged },
  'resource updates': { prove: hearResourceUpdates },
  'a result of 32 MB': { prove: getBigResult, absent: notRawOverSse },
};

export const asking: Record<string, Feature> = {
  'elicitation of a form': { prove: (cell) => beAsked(cell, 'form') },
  'elicitation at a URL': { prove: beSentToUrl },
  'a URL to visit first': { prove: visitFirst },
  sampling: { prove: (cell) => beAsked(cell, 'model') },
  roots: { prove: (cell) => beAsked(cell, 'roots') },
  'three questions at once': { prove: beAskedAtOnce },
  'two questions in turn': { prove: beAskedInTurn },
  'cancellation by the server': {
    prove: seeQuestionWithdrawn,
    absent: ({ upstream }) =>
      upstream.era === 'modern' ? '2026-07-28 has no request of a server that it could call off' : undefined,
  },
};

async function listAndCallTools({ seat, key }: Cell): Promise<void> {
  const listed = await listAll(seat, 'tools');
  expect(listed.filter(({ name }) => !String(name).startsWith('added-'))).toEqual(tools);
  expect(await call(seat, 'echo', { key, deep: [{ er: null }] })).toMatchObject({
    content: [{ type: 'text', text: `{"key":"${key}","deep":[{"er":null}]}` }],
  });
}

async function getStructuredContent({ seat }: Cell): Promise<void> {
  expect(await call(seat, 'structured', { a: 1, b: 2.5 })).toMatchObject({
    content: [{ type: 'text', text: '3.5' }],
    structuredContent: { sum: 3.5, parts: [1, { b: 2.5 }] },
  });
}

async function keepEveryByte({ seat }: Cell): Promise<void> {
  const args = '{"z":12345678901234567890,"a":[1.0,-0,1E5],"é\\u00e9":{"__proto__":0.1000000000000000055}}';
  const line = await seat.raw('tools/call', `{"name":"odd","arguments":${args}}`);
  const content = `[{"type":"text","text":${JSON.stringify(args)},${odd.block}}]`;
  expect(rawAt(line, 'result', 'content')).toBe(content);
  expect(rawAt(line, 'result', 'structuredContent')).toBe(odd.structuredContent);
  expect(rawAt(line, 'result', 'x-result')).toBe(odd.member);
  expect(rawAt(line, 'result', '_meta', 'example.com/odd')).toBe(odd.meta);
}

async function walkPages({ seat, isDirect }: Cell): Promise<void> {
  const pages = await pagesOf(seat, 'tools');
  expect(pages.length).toBeGreaterThanOrEqual(isDirect ? 3 : 1);
  const names = pages.flatMap((page) => (page['tools'] as Json[]).map(({ name }) => String(name)));
  expect(names.filter((name) => !name.startsWith('added-'))).toEqual(tools.map(({ name }) => String(name)));
  expect(names).toHaveLength(new Set(names).size);
}

async function listAndReadResources({ seat }: Cell): Promise<void> {
  expect(await listAll(seat, 'resources')).toEqual(resources);
  const { contents } = await request(seat, 'resources/read', { uri: 'matrix://one' });
  expect(contents).toEqual(contentsOf('matrix://one'));
}

async function listAndReadTemplates({ seat }: Cell): Promise<void> {
  const listed = await request(seat, 'resources/templates/list');
  expect(listed['resourceTemplates']).toEqual(resourceTemplates);
  const { contents } = await request(seat, 'resources/read', { uri: 'matrix://item/7%20b' });
  expect(contents).toEqual(contentsOf('matrix://item/7%20b'));
}

async function listAndGetPrompts({ seat }: Cell): Promise<void> {
  expect(await listAll(seat, 'prompts')).toEqual(prompts);
  const got = await request(seat, 'prompts/get', { name: 'greet', arguments: { who: 'Ada' } });
  expect(got).toMatchObject(greeting('Ada'));
}

async function completeArguments({ seat }: Cell): Promise<void> {
  const refs = [
    { type: 'ref/prompt', name: 'greet' },
    { type: 'ref/resource', uri: 'matrix://item/{id}' },
  ];
  for (const ref of refs) {
    const params = { ref, argument: { name: 'who', value: 'al' }, context: { arguments: { other: 'x' } } };
    const got = await request(seat, 'completion/complete', params);
    expect(got).toMatchObject({ completion: completion('al'), _meta: { 'example.com/ref': ref } });
  }
}

async function hearLogs({ seat, key }: Cell): Promise<void> {
  const { era, client, heard } = seat;
  const logged = (about: string): unknown[] =>
    heard
      .filter(({ method, params }) => method === 'notifications/message' && keyOf(params?.['data']) === about)
      .map(({ params }) => params);
  const params = (about: string, levels: string[]): Json[] =>
    levels.map((level) => ({ level, logger: 'matrix', data: { key: about, level } }));
  for (const [level, expected] of [
    ['info', ['info', 'error']],
    ['error', ['error']],
    ['debug', ['debug', 'info', 'error']],
  ] as const) {
    const about = `${key} at ${level}`;
    if (era === 'legacy') await client.setLoggingLevel(level);
    await call(seat, 'log', { key: about }, era === 'modern' ? { [LOG_LEVEL]: level } : undefined);
    await vi.waitFor(() => expect(logged(about)).toEqual(params(about, [...expected])), PATIENT);
  }
  if (era === 'legacy') return;
  await call(seat, 'log', { key: `${key} unasked` });
  await call(seat, 'echo');
  expect(logged(`${key} unasked`)).toEqual([]);
}

async function hearProgress({ seat, key }: Cell): Promise<void> {
  const params = { name: 'progress', arguments: { key } };
  await request(seat, 'tools/call', params, { onprogress: () => {} });
  const updates = seat.heard.filter(({ params: update }) =>
    String(update?.['message']).startsWith(`${key} `),
  );
  expect(updates.map(({ params: update }) => update)).toMatchObject(
    [1, 2, 3].map((progress) => ({
      progress,
      total: 3,
      message: `${key} ${progress}`,
      'x-step': [progress],
    })),
  );
}

/** The client hangs up on modern HTTP, and says so everywhere else; so does the gateway to the server. */
async function cancelCall({ seat, key, client, upstream }: Cell): Promise<void> {
  const { heard } = seat;
  const before = heard.length;
  const stop = new AbortController();
  const params = { name: 'wait', arguments: { key } };
  const waiting = request(seat, 'tools/call', params, { signal: stop.signal, onprogress: () => {} });
  const failed = waiting.then(
    () => 'answered',
    () => 'given up',
  );
  const isWaiting = ({ params: update }: Received): boolean => update?.['message'] === 'waiting';
  await vi.waitFor(() => expect(heard.slice(before).some(isWaiting)).toBe(true), PATIENT);
  stop.abort('changed my mind');
  expect(await failed).toBe('given up');
  const { content } = await call(seat, 'cancelled', { key });
  const said = (content as { text: string }[])[0]?.text;
  const hangsUp = ({ era, transport }: Cell['client']): boolean => era === 'modern' && transport === 'http';
  if (hangsUp(upstream)) expect(said).toBe('closed');
  else if (hangsUp(client)) expect(said).toMatch(/^told: ./);
  else expect(said).toBe('told: changed my mind');
}

async function hearListChanged({ seat, key }: Cell): Promise<void> {
  const { client, heard, era } = seat;
  const subscription = era === 'modern' ? await client.listen({ toolsListChanged: true }) : undefined;
  const before = heard.length;
  await call(seat, 'add-tool', { key });
  await vi.waitFor(() => {
    expect(methodsIn(heard.slice(before))).toContain('notifications/tools/list_changed');
  }, PATIENT);
  await subscription?.close();
  expect((await listAll(seat, 'tools')).map(({ name }) => name)).toContain(`added-${key}`);
}

async function hearResourceUpdates({ seat, key }: Cell): Promise<void> {
  const { client, heard, era } = seat;
  const uri = `matrix://item/${encodeURIComponent(key)}`;
  const subscription = era === 'modern' ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
  if (era === 'legacy') await client.subscribeResource({ uri });
  const updates = (): unknown[] =>
    heard
      .filter(({ method }) => method === 'notifications/resources/updated')
      .map(({ params }) => params?.['uri']);
  const before = updates().length;
  await call(seat, 'touch', { uri });
  await call(seat, 'touch', { uri: 'matrix://nobody/watches' });
  await vi.waitFor(() => expect(updates().slice(before)).toEqual([uri]), PATIENT);
  if (era === 'legacy') await client.unsubscribeResource({ uri });
  await subscription?.close();
  // The client gets no further update, although the unsubscription reaches the server a moment later.
  await call(seat, 'echo');
  await call(seat, 'touch', { uri });
  await call(seat, 'echo');
  expect(updates().slice(before)).toEqual([uri]);
}

async function getBigResult({ seat }: Cell): Promise<void> {
  const line = await seat.raw('tools/call', '{"name":"big","arguments":{}}');
  const { result } = JSON.parse(line) as { result?: { content: { text: string }[] } };
  const text = result?.content[0]?.text ?? line.slice(0, 1000);
  // Compared by hand: a difference of 32 MB would fill the report.
  expect({ length: text.length, isWhole: text === 'x'.repeat(BIG) }).toEqual({ length: BIG, isWhole: true });
}

async function beAsked({ seat }: Cell, key: 'form' | 'model' | 'roots'): Promise<void> {
  const before = seat.heard.length;
  const { structuredContent } = await call(seat, `ask-${key}`);
  expect(askedIn(seat, before)).toEqual([questions[key]]);
  expect(structuredContent).toEqual({ [key]: ANSWERS[key] });
}

/** The earlier revision gives a visit to a URL an id, and says when it is over. */
async function beSentToUrl({ seat, key, client, upstream }: Cell): Promise<void> {
  const before = seat.heard.length;
  const { structuredContent } = await call(seat, 'ask-url', { key });
  const [{ params: asked = {} } = {}] = askedIn(seat, before);
  const { elicitationId, ...rest } = asked;
  expect(rest).toEqual(questions.url.params);
  expect(structuredContent).toEqual({ url: ANSWERS.url });
  expect(typeof elicitationId).toBe(client.era === 'legacy' ? 'string' : 'undefined');
  if (client.era === 'modern' || upstream.era === 'modern') return;
  expect(elicitationId).toBe(key);
  await vi.waitFor(() => {
    const over = seat.heard.filter(({ method }) => method === 'notifications/elicitation/complete');
    expect(over.map(({ params }) => params?.['elicitationId'])).toContain(key);
  }, PATIENT);
}

/** Between a legacy client and a legacy server this is an error; else the client is asked, and the call goes on. */
async function visitFirst({ seat, key, client, upstream }: Cell): Promise<void> {
  const before = seat.heard.length;
  const visit = call(seat, 'visit-first', { key });
  if (client.era === 'legacy' && upstream.era === 'legacy') {
    const elicitations = [{ ...questions.url.params, elicitationId: key }];
    await expect(visit).rejects.toMatchObject({ code: -32042, data: { elicitations } });
  } else {
    expect(await visit).toMatchObject({ content: [{ type: 'text', text: 'welcome' }] });
    expect(askedIn(seat, before)).toMatchObject([questions.url]);
  }
}

async function beAskedAtOnce({ seat }: Cell): Promise<void> {
  const before = seat.heard.length;
  const { structuredContent } = await call(seat, 'ask-all');
  const { form, model, roots } = questions;
  expect(byMethod(askedIn(seat, before))).toEqual(byMethod([form, model, roots]));
  expect(structuredContent).toEqual({ form: ANSWERS.form, model: ANSWERS.model, roots: ANSWERS.roots });
}

async function beAskedInTurn({ seat }: Cell): Promise<void> {
  const before = seat.heard.length;
  const { structuredContent } = await call(seat, 'ask-in-turn');
  expect(askedIn(seat, before)).toEqual([questions.form, questions.model]);
  expect(structuredContent).toEqual({ form: ANSWERS.form, model: ANSWERS.model });
}

/** A modern client cannot be told; but what it answers in the end finds the call already decided. */
async function seeQuestionWithdrawn({ seat, key, client }: Cell): Promise<void> {
  let aborted: Promise<unknown> = Promise.resolve();
  seat.onForm = async (signal) => {
    aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    await call(seat, 'withdraw', { key });
    if (client.era === 'legacy') await aborted;
  };
  try {
    const { content } = await call(seat, 'ask-and-withdraw', { key });
    expect(content).toEqual([{ type: 'text', text: '"withdrawn"' }]);
    if (client.era === 'legacy') await aborted;
  } finally {
    seat.onForm = undefined;
  }
}

interface Question {
  readonly method: string;
  readonly params?: Json;
}

/** Questions to the client, as they stood on the wire: in requests, or in results that require input. */
function askedIn({ heard }: Seat, since: number): Question[] {
  return heard.slice(since).flatMap(({ id, method, params, result }) => {
    if (method !== undefined) return id === undefined ? [] : [question({ method, params })];
    return Object.values((result?.['inputRequests'] ?? {}) as Record<string, Question>).map(question);
  });
}

/** Without params that say nothing. */
function question({ method, params }: { method: string; params?: Json | undefined }): Question {
  return params === undefined || Object.keys(params).length === 0 ? { method } : { method, params };
}

function byMethod(asked: readonly Question[]): Question[] {
  return asked.toSorted((a, b) => a.method.localeCompare(b.method));
}

function methodsIn(messages: readonly Received[]): (string | undefined)[] {
  return messages.map(({ method }) => method);
}

function keyOf(data: unknown): unknown {
  return (data as { key?: unknown } | undefined)?.key;
}

async function listAll(seat: Seat, list: string): Promise<Json[]> {
  return (await pagesOf(seat, list)).flatMap((page) => page[list] as Json[]);
}

async function pagesOf(seat: Seat, list: string): Promise<Json[]> {
  const pages = [await request(seat, `${list}/list`)];
  for (let cursor = pages[0]?.['nextCursor']; cursor !== undefined; cursor = pages.at(-1)?.['nextCursor'])
    pages.push(await request(seat, `${list}/list`, { cursor }));
  return pages;
}
