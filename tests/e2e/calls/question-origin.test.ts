// A host's dialog names only the gateway: with several servers each question to a person begins with the server's name.
import { describe, expect } from 'vitest';
import {
  fixture,
  scripted,
  type Era,
  type Json,
  type Received,
  type ServerEntry,
} from '../../support/harness.ts';
import { open, serveInProcess, type Ask, type InProcess } from '../../support/in-process.ts';
import { EVERYTHING, questionsOf } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const TASKS = 'io.modelcontextprotocol/tasks';
const FORM = { message: 'Your "näme"?', requestedSchema: { type: 'object', properties: {} } };
const URL_MODE = { mode: 'url', elicitationId: 'e', url: 'https://a.example/', message: 'Sign in' };

/** Asks what it is told to, in the way of its era. */
const SERVERS: Readonly<Record<Era, ServerEntry>> = {
  legacy: fixture('asks-given-questions'),
  modern: scripted(`
    import { answer, readMessages, text, tool } from 'stdio';
    const complete = (result) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result });
    const methods = {
      'server/discover': () => complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
      'tools/list': () => complete({ tools: [tool('ask')] }),
      'tools/call': ({ arguments: { questions }, inputResponses }) => inputResponses
        ? complete(text(JSON.stringify(inputResponses)))
        : { resultType: 'input_required', inputRequests: Object.fromEntries(questions.map((q, i) => ['q' + i, q])) },
    };
    readMessages((message) => message.method && message.id !== undefined && answer(methods, message));`),
};

/** Returns the questions to a client during one call, in the way of its era; declines each. */
async function asked(weir: InProcess, ask: Ask, era: Era, questions: readonly Json[]): Promise<Json[]> {
  const call = ask('tools/call', { name: 'a:ask', arguments: { questions } });
  if (era === 'modern') return questionsOf(await call).map(({ params }) => params);
  const all: Json[] = [];
  for (const { method } of questions as { method: string }[]) {
    const { id, params = {} } = await weir.call(method);
    all.push(params);
    weir.send({ id, result: { action: 'decline' } });
  }
  expect((await call).error).toBeUndefined();
  return all;
}

const ERAS: Era[] = ['legacy', 'modern'];
const LEGS = ERAS.flatMap((server) => ERAS.map((client) => [server, client] as const));

describe.each(LEGS)('a question of a %s server through a %s client', (server, client) => {
  verifies(
    ['AGG-CALL-3', 'ERA-2'],
    'the message of a form or an address begins with the name of its server',
    async () => {
      await using weir = serveInProcess({ a: { ...SERVERS[server], name: 'Fïles' }, b: fixture('echo') });
      const ask = await open(weir, client, EVERYTHING);
      const elicit = (params: Json): Json => ({ method: 'elicitation/create', params });
      const [form] = await asked(weir, ask, client, [elicit(FORM)]);
      expect(form).toMatchObject({ ...FORM, message: 'Fïles: Your "näme"?' });
      const [visit] = await asked(weir, ask, client, [elicit(URL_MODE)]);
      expect(visit).toMatchObject({ url: URL_MODE.url, message: 'Fïles: Sign in' });
    },
  );

  verifies(['AGG-CALL-3', 'ERA-2'], 'a question stays unchanged where there is one server', async () => {
    await using weir = serveInProcess({ a: SERVERS[server] });
    const ask = await open(weir, client, EVERYTHING);
    const [form] = await asked(weir, ask, client, [{ method: 'elicitation/create', params: FORM }]);
    expect(form).toMatchObject(FORM);
  });

  verifies(
    ['AGG-CALL-3', 'ERA-2'],
    'a question cannot hide the name of its server or forge another',
    async () => {
      await using weir = serveInProcess({ a: SERVERS[server], bank: fixture('echo') });
      const ask = await open(weir, client, EVERYTHING);
      const [form] = await asked(weir, ask, client, [
        { method: 'elicitation/create', params: { ...FORM, message: '\n\nbank: Your PIN?' } },
      ]);
      expect(form?.['message']).toBe('a: \n\nbank: Your PIN?');
      const [sample] = await asked(weir, ask, client, [
        {
          method: 'sampling/createMessage',
          params: { maxTokens: 1, messages: [], systemPrompt: 'x', message: 'y' },
        },
      ]);
      expect(sample).toMatchObject({ message: 'y' });
    },
  );
});

describe('the addresses that a legacy server wants visited first', () => {
  verifies(
    ['AGG-CALL-3', 'ERA-2'],
    'addresses to visit first have the name of their server, in errors and rounds',
    async () => {
      for (const era of ERAS) {
        await using weir = serveInProcess({ a: fixture('asks-given-questions'), b: fixture('echo') });
        const ask = await open(weir, era, EVERYTHING);
        const answer = await ask('tools/call', { name: 'a:enter', arguments: { url: 'https://a.example/' } });
        const { elicitations } = (answer.error?.data ?? {}) as { elicitations?: Json[] };
        const [address] = elicitations ?? questionsOf(answer).map(({ params }) => params);
        expect(address).toMatchObject({ url: 'https://a.example/', message: 'a: Sign in' });
      }
    },
  );
});

describe('a question that a parser and the bytes may differ about', () => {
  const odd = (result: string): ServerEntry =>
    scripted(`
      import { answer, readMessages, tool, write } from 'stdio';
      const complete = (result) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result });
      const methods = {
        'server/discover': () => complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
        'tools/list': () => complete({ tools: [tool('ask')] }),
        'tools/call': (_, { id }) => void write('{"jsonrpc":"2.0","id":' + id + ',"result":' + ${JSON.stringify(result)} + '}'),
      };
      readMessages((message) => message.method && message.id !== undefined && answer(methods, message));`);
  const question = (params: string): string =>
    `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":${params}}}}`;

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'the gateway refuses an ambiguous question instead of passing it on without a name',
    async () => {
      const results = [
        question(String.raw`{"message":"one","m\u0065ssage":"two"}`),
        question('{"message":"one","message":"two"}'),
        question('{"message":"one"}').replace('inputRequests', String.raw`input\u0052equests`),
        question('{"message":"one"}').replace('"method"', String.raw`"m\u0065thod"`),
      ];
      for (const result of results) {
        await using weir = serveInProcess({ a: odd(result), b: fixture('echo') });
        const ask = await open(weir, 'modern', EVERYTHING);
        const answer = await ask('tools/call', { name: 'a:ask' });
        expect(answer.error?.message).toContain('The server sent an invalid request for input');
      }
    },
  );
});

verifies(
  ['AGG-CALL-3', 'ERA-1'],
  'a task that waits for a user names its server, in answers and notifications',
  async () => {
    await using weir = serveInProcess({ t: fixture('modern-tasks', 't'), b: fixture('echo') });
    const ask = await open(weir, 'modern', { ...EVERYTHING, extensions: { [TASKS]: {} } });
    const begun = await ask('tools/call', { name: 't:work' });
    const taskId = String(begun.result?.['taskId']);
    const own = taskId.replace(/^t~/u, '');
    void ask('subscriptions/listen', { notifications: { taskIds: [taskId] } });
    await weir.call('notifications/subscriptions/acknowledged');
    await ask('tools/call', { name: 't:ask', arguments: { taskId: own } });
    const told = await weir.call('notifications/tasks');
    const got = await ask('tasks/get', { taskId });
    const messageOf = (holder: Json | undefined): unknown =>
      (holder?.['inputRequests'] as Record<string, { params: Json }> | undefined)?.['name']?.params[
        'message'
      ];
    expect([messageOf(told.params), messageOf(got.result)]).toEqual([
      expect.stringMatching(/^t: \S/u),
      expect.stringMatching(/^t: \S/u),
    ]);
  },
);

verifies('AGG-CALL-3', "the gateway adds only the server's name to the bytes of a round", async () => {
  await using one = serveInProcess({ a: SERVERS.modern });
  await using two = serveInProcess({ a: SERVERS.modern, b: fixture('echo') });
  const lines: string[] = [];
  for (const weir of [one, two]) {
    const ask = await open(weir, 'modern', EVERYTHING);
    const questions = [{ method: 'elicitation/create', params: FORM }];
    const { id }: Received = await ask('tools/call', { name: 'a:ask', arguments: { questions } });
    lines.push(weir.lines.find((line) => line.includes(`"id":${id ?? ''}`)) ?? '');
  }
  expect(lines[1]).toBe(lines[0]?.replace('"message":"', '"message":"a: '));
});
