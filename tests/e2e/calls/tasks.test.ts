// Long-running tasks behind several servers: each id names its server.
import { describe, expect } from 'vitest';
import { fleet } from '../../fleet/fleet.ts';
import { connectClient } from '../../support/clients.ts';
import {
  fixture,
  modernMeta,
  temporaryFolder,
  textOf,
  type Json,
  type Received,
} from '../../support/harness.ts';
import { createTestGateway, open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { itemsOf, type LineClient } from '../../support/line-client.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const KNOWS_TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const two = { a: fixture('legacy-tasks', 'A'), 'b~%': fixture('legacy-tasks', 'B') };

/** Has a tool work as a task of 2025-11-25. */
async function begin(client: LineClient, name: string, args: Json = {}): Promise<Json> {
  const { result } = await client.request('tools/call', { name, arguments: args, task: { ttl: 60_000 } });
  return result?.['task'] as Json;
}

async function idsOf(client: LineClient, params: Json = {}): Promise<{ ids: unknown[]; cursor: unknown }> {
  const answer = await client.request('tasks/list', params);
  const ids = itemsOf<Json>(answer, 'tasks').map(({ taskId }) => taskId);
  return { ids, cursor: answer.result?.['nextCursor'] };
}

describe('tasks of 2025-11-25 on several servers', () => {
  verifies(
    'AGG-CALL-3',
    'tasks/get, tasks/result and tasks/cancel reach the server that has the task',
    async () => {
      await using weir = serveInProcess(two);
      await weir.initialize();
      const [a, b] = [await begin(weir, 'a:work', { words: 'from A' }), await begin(weir, 'b~%:work')];
      expect([a['taskId'], b['taskId']]).toEqual(['a~~A 1', 'b%7E%25~~B 1']);
      const got = await weir.request('tasks/get', { taskId: a['taskId'] });
      expect(got.result).toEqual(a);
      const done = await weir.request('tasks/result', { taskId: a['taskId'] });
      expect(textOf(done)).toBe('from A');
      expect(done.result?.['_meta']).toEqual({ [RELATED]: { taskId: 'a~~A 1' } });
      const cancelled = await weir.request('tasks/cancel', { taskId: b['taskId'] });
      expect(cancelled.result).toEqual({ ...b, status: 'cancelled' });
      expect((await weir.call('notifications/tasks/status')).params).toEqual(cancelled.result);
    },
  );

  verifies('AGG-CALL-3', 'tasks/list merges the lists of all servers, a page of each at a time', async () => {
    await using weir = serveInProcess({ ...two, plain: fixture('echo') });
    await weir.initialize();
    for (const name of ['a:work', 'a:work', 'a:work', 'b~%:work']) await begin(weir, name);
    const { ids, cursor } = await idsOf(weir);
    expect(ids).toEqual(['a~~A 1', 'a~~A 2', 'b%7E%25~~B 1']);
    expect(await idsOf(weir, { cursor })).toEqual({ ids: ['a~~A 3'], cursor: undefined });
    for (const unknown of ['', 'MA', 7])
      expect((await weir.request('tasks/list', { cursor: unknown })).error?.code).toBe(-32602);
  });

  verifies(
    'AGG-CALL-3',
    "a question of a task has the public id, and its answer the server's own id",
    async () => {
      await using weir = serveInProcess(two);
      await weir.initialize({ elicitation: {} });
      const { taskId } = await begin(weir, 'a:work', { asks: true });
      const waiting = weir.request('tasks/result', { taskId });
      const question = await weir.call('elicitation/create');
      expect(question.params?.['_meta']).toEqual({ [RELATED]: { taskId } });
      weir.send({
        id: question.id,
        result: { action: 'accept', content: {}, _meta: { [RELATED]: { taskId } } },
      });
      const { result } = await waiting;
      expect(result?.['structuredContent']).toMatchObject({
        result: { _meta: { [RELATED]: { taskId: '~A 1' } } },
      });
    },
  );

  verifies(
    'AGG-CALL-3',
    'a task asks the client that created it, whatever other calls are in flight',
    async () => {
      const gateway = createTestGateway(two);
      gateway.fronts.lifecycle.declareCapabilities('{"elicitation":{}}');
      const [ann, bob] = ['ann', 'bob'].map((name) => connectClient(gateway, name).client);
      for (const client of [ann!, bob!]) await client.initialize({ elicitation: {} });
      await gateway.start();
      const [anns, bobs] = [
        await begin(ann!, 'a:work', { asks: true }),
        await begin(bob!, 'a:work', { asks: true }),
      ];
      const waiting = [
        ann!.request('tasks/result', { taskId: anns['taskId'] }),
        bob!.request('tasks/result', { taskId: bobs['taskId'] }),
      ];
      for (const [client, { taskId }] of [
        [ann!, anns],
        [bob!, bobs],
      ] as const) {
        const { id, params } = await client.call('elicitation/create');
        expect(params?.['_meta']).toEqual({ [RELATED]: { taskId } });
        client.send({ id, result: { action: 'accept', content: {} } });
      }
      for (const { result } of await Promise.all(waiting))
        expect(result?.['structuredContent']).toMatchObject({ result: { action: 'accept' } });
      await gateway.close();
    },
  );

  verifies('AGG-CALL-3', 'a task reports progress until it ends', async () => {
    await using weir = serveInProcess(two);
    await weir.initialize();
    const task = { ttl: null };
    const begun = await weir.request('tools/call', { name: 'a:work', task, _meta: { progressToken: 'p' } });
    const progress = (): Promise<unknown> => weir.callTool('a:progress', { taskId: '~A 1' });
    await progress();
    const _meta = { [RELATED]: { taskId: (begun.result?.['task'] as Json | undefined)?.['taskId'] } };
    for (const step of [1, 2])
      expect((await weir.call('notifications/progress')).params).toEqual({
        progressToken: 'p',
        progress: step,
        _meta,
      });
    await weir.callTool('a:finish', { taskId: '~A 1' });
    await progress();
    expect(weir.messages.filter(({ method }) => method === 'notifications/progress')).toHaveLength(2);
  });

  verifies('AGG-CALL-3', 'a result with a taskId that is not a task stays unchanged', async () => {
    await using weir = serveInProcess(two);
    await weir.initialize();
    expect((await weir.callTool('a:work')).result).toMatchObject({ taskId: 'not a task' });
  });

  verifies('AGG-CALL-3', 'a task id that names no server is an error', async () => {
    await using weir = serveInProcess(two);
    await weir.initialize();
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      for (const taskId of ['A 1', 'nobody~1', '%E0%A4%A~1', 7]) {
        const { error } = await weir.request(method, { taskId });
        expect(error?.code).toBe(-32602);
        if (typeof taskId === 'string') expect(error?.message).toContain("'serverKey~id'");
      }
      expect((await weir.request(method, { taskId: 'a~1' })).error?.message).toBe('A has no task 1');
    }
    expect((await weir.request('tasks/update', { taskId: 'a~1' })).error?.code).toBe(-32601);
  });

  verifies(
    'AGG-CALL-3',
    'only the client that created a task lists it and gets its notifications',
    async () => {
      const gateway = createTestGateway(two);
      const [ann, bob] = ['ann', 'bob'].map((name) => connectClient(gateway, name).client);
      for (const client of [ann!, bob!]) await client.initialize();
      await gateway.start();
      const { taskId } = await begin(ann!, 'a:work');
      await ann!.callTool('a:finish', { taskId: '~A 1' });
      expect((await ann!.call('notifications/tasks/status')).params?.['taskId']).toBe(taskId);
      expect((await idsOf(bob!)).ids).toEqual([]);
      expect((await idsOf(ann!)).ids).toEqual([taskId]);
      expect(bob!.messages.filter(({ method }) => method !== undefined)).toEqual([]);
      await gateway.close();
    },
  );
});

verifies('AGG-CALL-3', 'task ids of an only server pass unchanged', async () => {
  await using weir = serveInProcess({ a: fixture('legacy-tasks', 'A') }, { noPrefix: true });
  await weir.initialize();
  const task = await begin(weir, 'work');
  expect(task['taskId']).toBe('~A 1');
  expect((await weir.request('tasks/get', { taskId: '~A 1' })).result).toEqual(task);
  expect((await weir.request('tasks/get', { taskId: 'a~~A 1' })).error?.message).toBe('A has no task a~~A 1');
  expect((await idsOf(weir)).ids).toEqual(['~A 1']);
  await weir.callTool('finish', { taskId: '~A 1' });
  expect((await weir.call('notifications/tasks/status')).params?.['taskId']).toBe('~A 1');
  const done = await weir.request('tasks/result', { taskId: '~A 1' });
  expect(done.result?.['_meta']).toEqual({ [RELATED]: { taskId: '~A 1' } });
});

const twoModern = { a: fixture('modern-tasks', 'A'), b: fixture('modern-tasks', 'B') };

/** Listens to tasks; resolves with what is honoured. */
async function listen(
  client: LineClient,
  id: string,
  taskIds: unknown,
  capabilities: Json,
): Promise<Received> {
  const params = { notifications: { taskIds }, ...modernMeta(capabilities) };
  client.send({ id, method: 'subscriptions/listen', params });
  return client.next(
    (message) => message.id === id || message.method === 'notifications/subscriptions/acknowledged',
    'the acknowledgement',
  );
}

describe('the tasks extension on several servers', () => {
  verifies(
    'AGG-CALL-3',
    'a modern client with the tasks extension gets tasks, and its requests reach their server',
    async () => {
      await using weir = serveInProcess(twoModern);
      const ask = await open(weir, 'modern', KNOWS_TASKS);
      const { result: task } = await ask('tools/call', { name: 'b:work' });
      expect(task).toMatchObject({ resultType: 'task', taskId: 'b~B-1', status: 'working', ttlMs: null });
      await ask('tools/call', { name: 'b:ask', arguments: { taskId: 'B-1' } });
      const asking = await ask('tasks/get', { taskId: 'b~B-1' });
      expect(asking.result).toMatchObject({ taskId: 'b~B-1', inputRequests: { name: {} } });
      const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
      await ask('tasks/update', { taskId: 'b~B-1', inputResponses });
      expect((await ask('tasks/get', { taskId: 'b~B-1' })).result).toMatchObject({ inputResponses });
      expect((await ask('tasks/cancel', { taskId: 'b~B-1' })).result).toEqual({ resultType: 'complete' });
      expect((await ask('tasks/get', { taskId: 'a~B-1' })).error?.message).toBe('A has no task B-1');
      expect((await ask('tasks/get', { taskId: 'B-1' })).error?.code).toBe(-32602);
    },
  );

  verifies('AGG-CALL-3', 'links in the result of a finished task get public URIs', async () => {
    await using weir = serveInProcess(twoModern);
    const ask = await open(weir, 'modern', KNOWS_TASKS);
    await ask('tools/call', { name: 'a:work' });
    await listen(weir, 'l', ['a~A-1'], KNOWS_TASKS);
    await ask('tools/call', { name: 'a:finish', arguments: { taskId: 'A-1' } });
    const content = [{ uri: 'weir://a/app%3A%2F%2Fpage' }];
    expect((await ask('tasks/get', { taskId: 'a~A-1' })).result).toMatchObject({ result: { content } });
    const { params } = await weir.call('notifications/tasks');
    expect(params).toMatchObject({ taskId: 'a~A-1', result: { content } });
  });

  verifies(
    'AGG-CALL-3',
    'a client without the tasks extension gets no tasks, and errors that name it',
    async () => {
      await using weir = serveInProcess(twoModern);
      const ask = await open(weir, 'modern');
      expect((await ask('tools/call', { name: 'a:work' })).result).toMatchObject({ taskId: 'not a task' });
      const missing = { code: -32021, data: { requiredCapabilities: KNOWS_TASKS } };
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await ask(method, { taskId: 'a~A-1' })).error).toMatchObject(missing);
      expect((await listen(weir, 'l', ['a~A-1'], {})).error).toMatchObject(missing);
      for (const method of ['tasks/list', 'tasks/result'])
        expect((await ask(method)).error?.code).toBe(-32601);
    },
  );

  verifies('ERA-5', 'each task subscription gets one notification per change until it ends', async () => {
    await using weir = serveInProcess(twoModern);
    const ask = await open(weir, 'modern', KNOWS_TASKS);
    for (const name of ['a:work', 'b:work']) await ask('tools/call', { name });
    const honoured = await listen(weir, 'both', ['a~A-1', 'b~B-1', 'none~1', 7], KNOWS_TASKS);
    expect(honoured.params?.['notifications']).toEqual({ taskIds: ['a~A-1', 'b~B-1'] });
    await listen(weir, 'one', ['a~A-1'], KNOWS_TASKS);
    await ask('tools/call', { name: 'a:finish', arguments: { taskId: 'A-1' } });
    const told = [await weir.call('notifications/tasks'), await weir.call('notifications/tasks')];
    expect(told.map(({ params }) => [params?.['taskId'], subscriptionOf(params)])).toEqual([
      ['a~A-1', 'both'],
      ['a~A-1', 'one'],
    ]);
    weir.notify('notifications/cancelled', { requestId: 'one' });
    expect(textOf(await ask('tools/call', { name: 'a:listeners' }))).toBe('2');
    await ask('tools/call', { name: 'b:finish', arguments: { taskId: 'B-1' } });
    expect((await weir.call('notifications/tasks')).params?.['taskId']).toBe('b~B-1');
    expect(newsOf(weir)).toHaveLength(3);
  });
});

describe('the tasks extension on a server that comes and goes', () => {
  const connectionOf = (weir: InProcess): string | undefined =>
    weir.gateway.reports()[0]?.health.connectionState;

  verifies(['ERA-5', 'AGG-REG-1'], 'a task subscription keeps a lazy server running', async () => {
    await using weir = serveInProcess(twoModern, { lazy: true, idleAfter: 300 });
    const ask = await open(weir, 'modern', KNOWS_TASKS);
    await ask('tools/call', { name: 'a:work' });
    await listen(weir, 'l', ['a~A-1'], KNOWS_TASKS);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(connectionOf(weir)).toBe('connected');
    await ask('tools/call', { name: 'a:finish', arguments: { taskId: 'A-1' } });
    expect((await weir.call('notifications/tasks')).params?.['taskId']).toBe('a~A-1');
    weir.notify('notifications/cancelled', { requestId: 'l' });
    await until(() => connectionOf(weir) === 'disconnected', 10_000);
    const { params } = await listen(weir, 'late', ['a~A-1'], KNOWS_TASKS);
    expect(params?.['notifications']).toEqual({ taskIds: [] });
  });

  verifies(
    ['ERA-5', 'HEALTH-2'],
    'the gateway renews a task subscription when its server is back',
    async () => {
      await using weir = serveInProcess(twoModern);
      const ask = await open(weir, 'modern', KNOWS_TASKS);
      await ask('tools/call', { name: 'a:work' });
      await listen(weir, 'l', ['a~A-1'], KNOWS_TASKS);
      await weir.gateway.restart('a');
      await ask('tools/call', { name: 'a:work' });
      await ask('tools/call', { name: 'a:finish', arguments: { taskId: 'A-1' } });
      const { params } = await weir.call('notifications/tasks');
      expect([params?.['taskId'], subscriptionOf(params)]).toEqual(['a~A-1', 'l']);
    },
  );
});

verifies('AGG-CALL-3', 'the tasks extension of an only server passes unchanged', async () => {
  await using weir = serveInProcess({ a: fixture('modern-tasks', 'A') }, { noPrefix: true });
  const ask = await open(weir, 'modern', KNOWS_TASKS);
  expect((await ask('tools/call', { name: 'work' })).result).toMatchObject({ taskId: 'A-1' });
  const { params } = await listen(weir, 'l', ['A-1'], KNOWS_TASKS);
  expect(params?.['notifications']).toEqual({ taskIds: ['A-1'] });
  await ask('tools/call', { name: 'finish', arguments: { taskId: 'A-1' } });
  expect((await weir.call('notifications/tasks')).params).toMatchObject({
    taskId: 'A-1',
    status: 'completed',
  });
  expect((await ask('tasks/get', { taskId: 'A-1' })).result).toMatchObject({ taskId: 'A-1' });
});

verifies(
  'AGG-CALL-3',
  'a legacy client that knows the extension gets no task from a modern server',
  async () => {
    await using weir = serveInProcess(twoModern);
    const ask = await open(weir, 'legacy', { ...KNOWS_TASKS, sampling: {} });
    expect(textOf(await ask('tools/call', { name: 'a:work' }))).toBe('at once');
  },
);

function newsOf(weir: InProcess): Received[] {
  return weir.messages.filter(({ method }) => method === 'notifications/tasks');
}

function subscriptionOf(params: Json | undefined): unknown {
  return (params?.['_meta'] as Json | undefined)?.['io.modelcontextprotocol/subscriptionId'];
}

verifies.slow('AGG-CALL-3', 'a task-only tool of a real server works on two instances of it', async () => {
  const { everything } = fleet(temporaryFolder());
  await using weir = serveInProcess({ a: everything!, b: everything! }, { startupTimeout: 30_000 });
  const { result } = await weir.initialize();
  expect(result?.['capabilities']).toMatchObject({ tasks: { requests: { tools: { call: {} } } } });
  expect((await weir.callTool('a:simulate-research-query', { topic: 'weirs' })).result?.['isError']).toBe(
    true,
  );
  for (const key of ['a', 'b']) {
    const { taskId } = await begin(weir, `${key}:simulate-research-query`, { topic: `weirs of ${key}` });
    expect(taskId).toMatch(new RegExp(`^${key}~.`));
    expect((await weir.request('tasks/get', { taskId })).result).toMatchObject({
      taskId,
      status: 'working',
    });
    const done = await weir.request('tasks/result', { taskId });
    expect(textOf(done)).toContain(`weirs of ${key}`);
    expect(done.result?.['_meta']).toEqual({ [RELATED]: { taskId } });
    expect((await idsOf(weir)).ids).toContain(taskId);
  }
});
