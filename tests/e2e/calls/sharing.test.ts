// Servers that clients share, and servers of one session or of one call.
import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { connectClient } from '../../support/clients.ts';
import {
  fixture,
  modernMeta,
  scripted,
  temporaryFolder,
  textOf,
  type Era,
  type Json,
  type Received,
  type ServerEntry,
} from '../../support/harness.ts';
import { modern, send, serveTest } from '../../support/http.ts';
import { counted, createTestGateway, open } from '../../support/in-process.ts';
import type { LineClient } from '../../support/line-client.ts';
import { until } from '../../support/processes.ts';
import { questionsOf, stateOf } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

/** Returns its process id and folder, and counts its calls. */
const who: ServerEntry = scripted(`
  import { serve, text, tool } from 'stdio';
  let calls = 0;
  serve({
    name: 'who',
    tools: [tool('who'), tool('die')],
    call: {
      who: () => text(JSON.stringify({ pid: process.pid, calls: ++calls, cwd: process.cwd() })),
      die: () => process.exit(3),
    },
  });`);

interface Who {
  pid: number;
  calls: number;
  cwd: string;
}

const CAN_ELICIT = { elicitation: {} };

describe('a per-session server', () => {
  verifies('ERA-2', 'a per-session server is one process per session, for all its calls', async () => {
    const gateway = createTestGateway({ w: { ...who, sharing: 'per-session' } });
    const [a, b] = [connectClient(gateway, 'a'), connectClient(gateway, 'b')];
    const [askA, askB] = [await open(a.client, 'legacy'), await open(b.client, 'modern')];
    await gateway.start();
    const ask = async (asks: typeof askA): Promise<Who> =>
      JSON.parse(textOf(await asks('tools/call', { name: 'w:who' }))) as Who;
    const [first, second, other] = [await ask(askA), await ask(askA), await ask(askB)];
    expect(second).toEqual({ ...first, calls: 2 });
    expect(other.calls).toBe(1);
    expect(other.pid).not.toBe(first.pid);
    a.leave();
    await isGone(first.pid);
    expect((await ask(askB)).pid).toBe(other.pid);
    await gateway.close();
    await isGone(other.pid);
  });

  verifies(
    'ERA-2',
    'a per-session server starts once for concurrent calls, and ends with its session',
    async () => {
      const gateway = createTestGateway({ w: { ...who, sharing: 'per-session' } });
      const { client, leave } = connectClient(gateway, 'a');
      await client.initialize();
      await gateway.start();
      const answers = await Promise.all([1, 2, 3].map(() => client.callTool('w:who')));
      const pids = answers.map((answer) => (JSON.parse(textOf(answer)) as Who).pid);
      expect(new Set(pids).size).toBe(1);
      leave();
      await Promise.all(pids.map(isGone));
      await gateway.close();
    },
  );

  verifies(
    ['ERA-2', 'AGG-CHILD-5'],
    'a per-session server does not start again for a session that left during its start',
    async () => {
      const { entry, starts } = counted(fixture('slow-start', '500'));
      const gateway = createTestGateway({ s: { ...entry, sharing: 'per-session' } });
      const { client, leave } = connectClient(gateway, 'a');
      await client.initialize();
      await gateway.start();
      const call = (id: string): void =>
        client.send({ id, method: 'tools/call', params: { name: 's:echo', arguments: { text: id } } });
      call('first');
      await until(() => starts() === 2);
      call('second');
      await client.request('ping');
      leave();
      await delay(1500);
      expect(starts()).toBe(2);
      await gateway.close();
    },
  );

  verifies('ERA-2', 'a per-session server asks its own client, however many there are', async () => {
    const gateway = createTestGateway({ a: { ...fixture('asks-client'), sharing: 'per-session' } });
    const clients = ['Ann', 'Bob'].map((name) => ({ name, ...connectClient(gateway, name) }));
    for (const { client } of clients) await client.initialize(CAN_ELICIT);
    await gateway.start();
    const calls = clients.map(({ client }) => client.callTool('a:elicit'));
    for (const { name, client } of clients) {
      const { id } = await client.call('elicitation/create');
      client.send({ id, result: { action: 'accept', content: { name } } });
    }
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts.map((text) => (JSON.parse(text) as { content: unknown }).content)).toEqual([
      { name: 'Ann' },
      { name: 'Bob' },
    ]);
    await gateway.close();
  });

  verifies('ERA-2', 'a per-session server asks its own client when no call is in flight', async () => {
    const early = scripted(`
      import { ask, serve, text, tool } from 'stdio';
      let roots;
      serve({
        name: 'early',
        tools: [tool('roots')],
        call: { roots: async () => text(JSON.stringify((await roots).result)) },
        on: { 'notifications/initialized': () => void (roots = ask('roots/list')) },
      });`);
    const gateway = createTestGateway({ e: { ...early, sharing: 'per-session' } });
    const clients = ['Ann', 'Bob'].map((name) => ({ name, ...connectClient(gateway, name) }));
    for (const { client } of clients) await client.initialize({ roots: {} });
    await gateway.start();
    for (const { name, client } of clients) {
      const call = client.callTool('e:roots');
      const { id } = await client.call('roots/list');
      client.send({ id, result: { roots: [{ uri: `file:///${name}` }] } });
      expect(textOf(await call)).toContain(name);
    }
    await gateway.close();
  });

  verifies('ERA-2', 'a per-session server never asks another client after its own has left', async () => {
    const clings = scripted(`
      import { ask, serve, text, tool } from 'stdio';
      process.stdin.on('end', () => {
        void ask('roots/list');
        setTimeout(() => process.exit(), 50);
      });
      setInterval(() => {}, 1000);
      serve({ name: 'clings', tools: [tool('who')], call: { who: () => text(process.pid) } });`);
    const gateway = createTestGateway({ c: { ...clings, sharing: 'per-session' } });
    const [ann, bob] = [connectClient(gateway, 'Ann'), connectClient(gateway, 'Bob')];
    for (const { client } of [ann, bob]) await client.initialize({ roots: {} });
    await gateway.start();
    const pid = Number(textOf(await ann.client.callTool('c:who')));
    ann.leave();
    await isGone(pid);
    await bob.client.callTool('c:who');
    expect(bob.client.messages.filter(({ method }) => method !== undefined)).toEqual([]);
    await gateway.close();
  });

  verifies('ERA-2', 'a per-session server that died starts again at the next call', async () => {
    const gateway = createTestGateway({ w: { ...who, sharing: 'per-session' } });
    const { client } = connectClient(gateway, 'a');
    await client.initialize();
    await gateway.start();
    const first = JSON.parse(textOf(await client.callTool('w:who'))) as Who;
    expect((await client.callTool('w:die')).error?.message).toContain("Server 'w' exited with code 3");
    const again = await client.callTool('w:who');
    expect(again.error?.message).toBeUndefined();
    const second = JSON.parse(textOf(again)) as Who;
    expect(second).toMatchObject({ calls: 1 });
    expect(second.pid).not.toBe(first.pid);
    await gateway.close();
  });

  verifies('ERA-2', 'a per-session server gets the log level of its own client', async () => {
    const levels = scripted(`
      import { serve, text, tool } from 'stdio';
      const told = [];
      serve({
        name: 'levels',
        capabilities: { tools: {}, logging: {} },
        tools: [tool('told')],
        call: { told: () => text(told.join()) },
        on: { 'logging/setLevel': ({ level }) => (told.push(level), {}) },
      });`);
    const gateway = createTestGateway({ l: { ...levels, sharing: 'per-session' } });
    const [a, b] = [connectClient(gateway, 'a').client, connectClient(gateway, 'b').client];
    await a.initialize();
    await b.initialize();
    await gateway.start();
    await a.request('logging/setLevel', { level: 'debug' });
    await b.request('logging/setLevel', { level: 'error' });
    expect([textOf(await a.callTool('l:told')), textOf(await b.callTool('l:told'))]).toEqual([
      'debug',
      'error',
    ]);
    await gateway.close();
  });

  verifies(
    'ERA-2',
    'a per-session server gets a notification when the roots of its own client change',
    async () => {
      const roots = scripted(`
      import { serve, text, tool } from 'stdio';
      let changes = 0;
      serve({
        name: 'roots',
        tools: [tool('changes')],
        call: { changes: () => text(changes) },
        on: { 'notifications/roots/list_changed': () => void changes++ },
      });`);
      const gateway = createTestGateway({ r: { ...roots, sharing: 'per-session' } });
      const clients = ['a', 'b'].map((name) => connectClient(gateway, name).client);
      for (const client of clients) await client.initialize({ roots: { listChanged: true } });
      await gateway.start();
      const changes = (): Promise<string[]> =>
        Promise.all(clients.map(async (client) => textOf(await client.callTool('r:changes'))));
      expect(await changes()).toEqual(['0', '0']);
      clients[0]?.notify('notifications/roots/list_changed');
      expect(await changes()).toEqual(['1', '0']);
      await gateway.close();
    },
  );

  verifies(
    'ERA-2',
    'a per-session server with "cwdFromRoots" runs in the first folder of its client',
    async () => {
      const folder = realpathSync(temporaryFolder());
      const gateway = createTestGateway({ w: { ...who, sharing: 'per-session', cwdFromRoots: true } });
      const { client } = connectClient(gateway, 'a');
      await client.initialize({ roots: {} });
      await gateway.start();
      const call = client.callTool('w:who');
      const { id } = await client.call('roots/list');
      client.send({
        id,
        result: { roots: [{ uri: 'https://example.com/' }, { uri: pathToFileURL(folder).href }] },
      });
      expect(JSON.parse(textOf(await call))).toMatchObject({ cwd: folder });
      await gateway.close();
    },
  );
});

test('the error for a missing root blames the client, not the config', async () => {
  const gateway = createTestGateway({ w: { ...who, sharing: 'per-session', cwdFromRoots: true } });
  const { client } = connectClient(gateway, 'a');
  await client.initialize({ roots: {} });
  await gateway.start();
  const call = client.callTool('w:who');
  const { id } = await client.call('roots/list');
  client.send({ id, result: { roots: [{ uri: 'file:///no/such/folder' }] } });
  expect((await call).error).toMatchObject({
    code: -32000,
    message: expect.stringMatching(
      /the client's root does not exist: "\/no\/such\/folder"; .* correct the roots of the client/u,
    ) as string,
  });
  await gateway.close();
});

describe('a server that works in the folder of a modern client', () => {
  verifies(
    'ERA-2',
    'a modern client is asked for its folder with the first call, and not again',
    async () => {
      const folder = realpathSync(temporaryFolder());
      const gateway = createTestGateway({ w: { ...who, sharing: 'per-session', cwdFromRoots: true } });
      const ask = await open(connectClient(gateway, 'a').client, 'modern', { roots: {} });
      gateway.fronts.lifecycle.declareCapabilities('{}');
      await gateway.start();
      const first = await ask('tools/call', { name: 'w:who' });
      expect(first.result).toEqual({
        resultType: 'input_required',
        inputRequests: { 'weir/roots': { method: 'roots/list', params: {} } },
      });
      const roots = [null, { uri: 'file://elsewhere/a' }, { uri: pathToFileURL(folder).href }];
      const inputResponses = { 'weir/roots': { roots } };
      const second = await ask('tools/call', { name: 'w:who', inputResponses });
      expect(JSON.parse(textOf(second))).toMatchObject({ calls: 1, cwd: folder });
      expect(JSON.parse(textOf(await ask('tools/call', { name: 'w:who' })))).toMatchObject({
        calls: 2,
        cwd: folder,
      });
      await gateway.close();
    },
  );

  const form = '{ message: "?", requestedSchema: { type: "object", properties: {} } }';
  const askers = {
    legacy: scripted(`
      import { ask, serve, text, tool } from 'stdio';
      const told = async () => (await ask('elicitation/create', ${form})).result;
      serve({
        name: 'asker',
        tools: [tool('ask')],
        call: { ask: async () => text(JSON.stringify({ cwd: process.cwd(), told: await told() })) },
      });`),
    modern: scripted(`
      import { answer, readMessages, text, tool } from 'stdio';
      const complete = (result) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result });
      const question = { method: 'elicitation/create', params: ${form} };
      const asked = { resultType: 'input_required', inputRequests: { q: question }, requestState: 'one' };
      const told = ({ inputResponses, requestState }) =>
        complete(text(JSON.stringify({ cwd: process.cwd(), told: inputResponses.q, inputResponses, requestState })));
      const methods = {
        'server/discover': () => complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
        'tools/list': () => complete({ tools: [tool('ask')] }),
        'tools/call': (params) => (params.requestState === undefined ? asked : told(params)),
      };
      readMessages((message, line) => message.id !== undefined && void answer(methods, message, line));`),
  };

  for (const era of ['legacy', 'modern'] as const)
    verifies(
      'ERA-2',
      `a ${era} server with "cwdFromRoots" can ask more questions behind a shared token`,
      async () => {
        const folder = realpathSync(temporaryFolder());
        const entry = { ...askers[era], sharing: 'per-session', cwdFromRoots: true };
        await using http = await serveTest({ a: entry });
        const capabilities = { roots: {}, elicitation: {} };
        const results: Record<string, Json> = {
          'roots/list': { roots: [{ uri: pathToFileURL(folder).href }] },
          'elicitation/create': { action: 'accept', content: {} },
        };
        const call = async (more: Json): Promise<Received> =>
          (await send(http.url, modern('tools/call', { name: 'a:ask', ...more }, { capabilities }))).json;
        let answer = await call({});
        for (let rounds = 0; answer.result?.['resultType'] === 'input_required' && rounds < 5; rounds++) {
          const { requestState } = answer.result;
          const responses = questionsOf(answer).map(({ key, method }) => [key, results[method]]);
          const inputResponses = Object.fromEntries(responses) as Json;
          answer = await call({ inputResponses, ...(requestState !== undefined && { requestState }) });
        }
        const told = JSON.parse(textOf(answer)) as Json;
        expect(told).toMatchObject({ cwd: folder, told: { action: 'accept' } });
        if (era === 'modern')
          expect(told).toMatchObject({ inputResponses: { q: { action: 'accept' } }, requestState: 'one' });
        expect(JSON.stringify(told)).not.toContain('weir/');
      },
    );

  verifies(
    'ERA-2',
    'a modern client is asked for its folder also where its first call has other answers',
    async () => {
      const folder = realpathSync(temporaryFolder());
      const gateway = createTestGateway({
        a: { ...askers.modern, sharing: 'per-session', cwdFromRoots: true },
      });
      const ask = await open(connectClient(gateway, 'a').client, 'modern', { roots: {}, elicitation: {} });
      gateway.fronts.lifecycle.declareCapabilities('{}');
      await gateway.start();
      const told = { inputResponses: { q: { action: 'accept' } }, requestState: 'one' };
      const round = await ask('tools/call', { name: 'a:ask', ...told });
      expect(questionsOf(round).map(({ method }) => method)).toEqual(['roots/list']);
      expect(stateOf(round)).toBe('one');
      const roots = { 'weir/roots': { roots: [{ uri: pathToFileURL(folder).href }] } };
      const inputResponses = { ...told.inputResponses, ...roots };
      const answer = await ask('tools/call', { name: 'a:ask', ...told, inputResponses });
      expect(JSON.parse(textOf(answer))).toMatchObject({ cwd: folder, ...told });
      await gateway.close();
    },
  );

  verifies(
    'ERA-2',
    'a server with "cwdFromRoots" runs in the default folder if the client has no roots',
    async () => {
      const gateway = createTestGateway({ w: { ...who, sharing: 'per-session', cwdFromRoots: true } });
      const ask = await open(connectClient(gateway, 'a').client, 'modern');
      gateway.fronts.lifecycle.declareCapabilities('{}');
      await gateway.start();
      const answer = await ask('tools/call', { name: 'w:who' });
      expect(JSON.parse(textOf(answer))).toMatchObject({ cwd: process.cwd() });
      await gateway.close();
    },
  );
});

describe('a per-call server', () => {
  verifies('ERA-2', 'a per-call server is one process per call, and ends with the answer', async () => {
    const gateway = createTestGateway({ w: { ...who, sharing: 'per-call' } });
    const { client } = connectClient(gateway, 'a');
    await client.initialize();
    await gateway.start();
    const calls = await Promise.all([client.callTool('w:who'), client.callTool('w:who')]);
    const [one, two] = calls.map((answer) => JSON.parse(textOf(answer)) as Who);
    expect([one?.calls, two?.calls]).toEqual([1, 1]);
    expect(one?.pid).not.toBe(two?.pid);
    await Promise.all([isGone(one?.pid), isGone(two?.pid)]);
    await gateway.close();
  });

  verifies('ERA-2', 'a per-call server that does not start fails the call with the reason', async () => {
    const flag = `${temporaryFolder()}/started`;
    const once = scripted(`
      import { existsSync, writeFileSync } from 'node:fs';
      import { serve, text, tool } from 'stdio';
      if (existsSync(${JSON.stringify(flag)})) { console.error('only once'); process.exit(4); }
      writeFileSync(${JSON.stringify(flag)}, '');
      serve({ name: 'once', tools: [tool('t')], call: { t: () => text('t') } });`);
    const gateway = createTestGateway({ o: { ...once, sharing: 'per-call' } });
    const { client } = connectClient(gateway, 'a');
    await client.initialize();
    await gateway.start();
    expect((await client.callTool('o:t')).error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(
        /Weir could not start a server for this call: .*'o'.*exited with code 4/su,
      ) as string,
    });
    await gateway.close();
  });
});

for (const sharing of ['per-session', 'per-call'])
  verifies('AGG-CHILD-5', `a call after the end of the gateway starts no server (${sharing})`, async () => {
    const { entry, starts } = counted(fixture('echo'));
    const gateway = createTestGateway({ e: { ...entry, sharing } });
    await gateway.start();
    await gateway.close();
    await expect(gateway.callTool('e:echo', { text: 'late' })).rejects.toThrow(
      'The gateway is shutting down',
    );
    expect(starts()).toBe(1);
  });

describe('a shared server', () => {
  verifies(
    'ERA-2',
    'a shared server may ask the only client with a call in flight, but not one of two',
    async () => {
      const gateway = createTestGateway({ a: fixture('asks-client') });
      const [a, b] = [connectClient(gateway, 'a').client, connectClient(gateway, 'b').client];
      gateway.fronts.lifecycle.declareCapabilities('{"elicitation":{},"sampling":{},"roots":{}}');
      await gateway.start();
      await a.initialize(CAN_ELICIT);
      await b.initialize(CAN_ELICIT);
      const only = a.callTool('a:elicit');
      const { id } = await a.call('elicitation/create');
      const refused = textOf(await b.callTool('a:elicit'));
      expect(JSON.parse(refused)).toMatchObject({
        message: expect.stringContaining('Set "sharing": "per-session"') as string,
      });
      a.send({ id, result: { action: 'decline' } });
      expect(JSON.parse(textOf(await only))).toEqual({ action: 'decline' });
      expect(textOf(await b.callTool('a:sample'))).toContain('does not support \\"sampling\\"');
      await gateway.close();
    },
  );
});

/** Follows a resource as a client of this era does; returns what ends that. */
async function follow(client: LineClient, era: Era, uri: string): Promise<() => Promise<unknown>> {
  if (era === 'legacy') {
    await client.request('resources/subscribe', { uri });
    return () => client.request('resources/unsubscribe', { uri });
  }
  const params = { notifications: { resourceSubscriptions: [uri] }, ...modernMeta() };
  client.send({ id: 'listen', method: 'subscriptions/listen', params });
  await client.call('notifications/subscriptions/acknowledged');
  return async () => client.notify('notifications/cancelled', { requestId: 'listen' });
}

describe('a resource that two clients follow', () => {
  for (const eras of [
    ['legacy', 'legacy'],
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const)
    verifies(
      'AGG-CALL-3',
      `a resource stays subscribed for a ${eras[1]} client when a ${eras[0]} one unsubscribes`,
      async () => {
        const gateway = createTestGateway({ r: fixture('resources'), e: fixture('echo') });
        const clients = eras.map((era) => connectClient(gateway, era).client);
        gateway.fronts.lifecycle.declareCapabilities('{}');
        await gateway.start();
        const asks = await Promise.all(clients.map((client, i) => open(client, eras[i]!)));
        const uri = 'note://one';
        const [stop, stopToo] = await Promise.all(clients.map((client, i) => follow(client, eras[i]!, uri)));
        const isFollowed = async (): Promise<string> =>
          textOf(await asks[0]!('tools/call', { name: 'r:touch', arguments: { uri } }));
        await stop?.();
        expect(await isFollowed()).toBe('true');
        await clients[1]!.call('notifications/resources/updated');
        await stopToo?.();
        await clients[1]!.request('ping');
        expect(await isFollowed()).toBe('false');
        await gateway.close();
      },
    );
});

async function isGone(pid: number | undefined): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    try {
      process.kill(pid ?? 0, 0);
    } catch {
      return;
    }
    await delay(20);
  }
  throw new Error(`Process ${pid} is still there`);
}
