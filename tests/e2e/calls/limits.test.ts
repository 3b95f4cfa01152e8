// Limits that a config sets: calls at a time, calls in a session, time of a call; and the errors beyond them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { executionTracker, type InvocationSource } from '@weir/gateway';
import { describe, expect } from 'vitest';
import { connectClient } from '../../support/clients.ts';
import { fixture, temporaryFolder, textOf, type Json, type Received } from '../../support/harness.ts';
import { begin, modern, send, serveTest, type Sent } from '../../support/http.ts';
import {
  open,
  serveInProcess,
  type Ask,
  type InProcess,
  type InProcessOptions,
} from '../../support/in-process.ts';
import type { LineClient } from '../../support/line-client.ts';
import { until } from '../../support/processes.ts';
import { again, EVERYTHING } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const QUICK = { backOffMs: [50, 100, 150], settledAfterMs: 5000 };
const LONG = 60_000;

interface Seen {
  readonly most: number;
  readonly begun: string[];
  readonly cancelled: string[];
  readonly working: number;
}

/** One busy server under these limits. */
function limited(config: InProcessOptions['config'] = {}, entry: Json = {}): InProcess {
  const servers = { b: { ...fixture('timed-work'), ...entry } };
  return serveInProcess(servers, { config, supervision: QUICK });
}

function work(client: LineClient, label: string, ms: number, more: Json = {}): Promise<Received> {
  return client.callTool('b:work', { label, ms, ...more });
}

/** Asks the server for the calls that it has seen, past all limits. */
async function seen({ gateway }: Pick<InProcess, 'gateway'>): Promise<Seen> {
  const result = await gateway.children.get('b')?.callTool({ name: 'report' });
  return JSON.parse(textOf({ result: result as Json })) as Seen;
}

async function whenSeen(weir: Pick<InProcess, 'gateway'>, isSo: (seen: Seen) => boolean): Promise<Seen> {
  let last = await seen(weir);
  for (; !isSo(last); last = await seen(weir)) await new Promise((resolve) => setTimeout(resolve, 10));
  return last;
}

const errorOf = ({ error, result }: Received): string => error?.message ?? JSON.stringify(result);

describe('a limit of calls at a time', () => {
  verifies.slow(
    ['HEALTH-4', 'HEALTH-5'],
    '"mcpConcurrentLimit" and "mcpGlobalTimeout" apply to calls of a program',
    async () => {
      await using weir = limited({ mcpConcurrentLimit: 2, mcpGlobalTimeout: 1000 });
      await weir.tools();
      const call = (label: string, ms: number): Promise<unknown> =>
        weir.gateway.callTool('b:work', { label, ms });
      const labels = Array.from({ length: 10 }, (_, n) => `${n}`);
      const results = await Promise.all(labels.map((label) => call(label, 20)));
      expect(results.map((result) => textOf({ result: result as Json }))).toEqual(labels);
      expect((await seen(weir)).most).toBe(2);
      await expect(call('long', LONG)).rejects.toThrow('Execution exceeded 1s');
      await whenSeen(weir, ({ cancelled }) => cancelled.length === 1);
    },
  );

  verifies(
    'HEALTH-5',
    '"mcpConcurrentLimit" of 25 holds for 200 calls, and two clients take turns',
    async () => {
      await using weir = limited({ mcpConcurrentLimit: 25 });
      await weir.tools();
      const { client } = connectClient(weir.gateway, 'another');
      await client.initialize();
      const first = Array.from({ length: 100 }, (_, n) => work(weir, `a${n}`, 20));
      const second = Array.from({ length: 100 }, (_, n) => work(client, `b${n}`, 20));
      const answers = await Promise.all([...first, ...second]);
      expect(answers.map(textOf).toSorted()).toEqual(
        Array.from({ length: 100 }, (_, n) => [`a${n}`, `b${n}`])
          .flat()
          .toSorted(),
      );
      const { most, begun } = await seen(weir);
      expect(most).toBe(25);
      // The places were taken before the other client came; from then on it has every second one.
      const turns = begun.slice(25, 125).filter((label) => label.startsWith('b')).length;
      expect(turns).toBeGreaterThanOrEqual(49);
      expect(begun.filter((label) => label.startsWith('b'))).toEqual(
        Array.from({ length: 100 }, (_, n) => `b${n}`),
      );
    },
  );

  verifies('HEALTH-5', 'calls are not limited where the config sets no limit', async () => {
    await using weir = limited();
    await weir.tools();
    expect(weir.gateway.fronts.view().snapshot.callLimits).toBeUndefined();
    await Promise.all(Array.from({ length: 60 }, (_, n) => work(weir, `${n}`, 700)));
    expect((await seen(weir)).most).toBe(60);
    expect(weir.gateway.canExecute('b')).toBe(true);
    expect(weir.gateway.canExecute('unknown')).toBe(false);
  });

  verifies(
    'HEALTH-5',
    'the gateway queues 1,000 calls and refuses the next one with the name of the limit',
    async () => {
      await using weir = limited({ mcpConcurrentLimit: 1 });
      await weir.tools();
      void work(weir, 'first', 1500);
      const waiting = Array.from({ length: 1000 }, (_, n) => work(weir, `${n}`, 0));
      const refused = await work(weir, 'too many', 0);
      expect(errorOf(refused)).toMatch(
        /^Server 'b' is busy: 1 calls running \("mcpConcurrentLimit"\) and 1000 queued \(maximum\)\. Raise "mcpConcurrentLimit"/u,
      );
      expect(weir.gateway.canExecute('b')).toBe(false);
      expect((await Promise.all(waiting)).map(textOf)).toEqual(
        Array.from({ length: 1000 }, (_, n) => `${n}`),
      );
      expect((await seen(weir)).most).toBe(1);
      expect(weir.gateway.canExecute('b')).toBe(true);
    },
  );

  verifies('HEALTH-5', 'the queue drops calls that are cancelled or whose client has left', async () => {
    await using weir = limited({ mcpConcurrentLimit: 1 });
    await weir.tools();
    const other = connectClient(weir.gateway, 'another');
    await other.client.initialize();
    const first = work(weir, 'first', 500);
    weir.send({ id: 'x', method: 'tools/call', params: { name: 'b:work', arguments: { label: 'off' } } });
    weir.notify('notifications/cancelled', { requestId: 'x' });
    void work(other.client, 'left', 0).catch(() => {});
    await other.client.request('ping');
    other.leave();
    await first;
    await work(weir, 'last', 0);
    expect(await seen(weir)).toMatchObject({ begun: ['first', 'last'], cancelled: [] });
    expect(weir.messages.some(({ id }) => id === 'x')).toBe(false);
  });

  verifies('HEALTH-5', 'the queue drops a call whose HTTP client hangs up', async () => {
    const servers = { b: fixture('timed-work') };
    await using weir = await serveTest(servers, { config: { mcpConcurrentLimit: 1 } });
    const call = (label: string, ms: number): Sent =>
      modern('tools/call', { name: 'b:work', arguments: { label, ms } });
    const first = send(weir.url, call('first', 800));
    await whenSeen(weir, ({ working }) => working === 1);
    const hangUp = begin(weir.url, call('hung up', 0));
    const patient = send(weir.url, call('patient', 0));
    await new Promise((resolve) => setTimeout(resolve, 300));
    hangUp();
    expect((await first).json.result).toBeDefined();
    expect((await patient).json.result).toBeDefined();
    expect((await seen(weir)).begun).toEqual(['first', 'patient']);
  });

  verifies(
    'HEALTH-5',
    '"mcpConcurrentLimit" holds for per-call servers, also after a cancelled call',
    async () => {
      const servers = { b: { ...fixture('timed-work'), sharing: 'per-call' } };
      await using weir = serveInProcess(servers, { config: { mcpConcurrentLimit: 1 } });
      await weir.tools();
      const calls = ['1', '2', '3'].map((label) => work(weir, label, 0));
      expect((await Promise.all(calls)).map(textOf)).toEqual(['1', '2', '3']);
      expect(weir.gateway.canExecute('b')).toBe(true);
      weir.send({ id: 'x', method: 'tools/call', params: { name: 'b:work', arguments: { label: 'off' } } });
      weir.notify('notifications/cancelled', { requestId: 'x' });
      expect(textOf(await work(weir, 'last', 0))).toBe('last');
      expect(weir.gateway.canExecute('b')).toBe(true);
    },
  );

  verifies('HEALTH-5', 'a reload can change "mcpConcurrentLimit" while calls wait', async () => {
    const servers = { b: fixture('timed-work') };
    await using weir = serveInProcess(servers, { config: { mcpConcurrentLimit: 1 } });
    await weir.tools();
    const calls = ['1', '2', '3'].map((label) => work(weir, label, 400));
    await whenSeen(weir, ({ working }) => working === 1);
    await weir.gateway.reload({ mcpServers: servers });
    expect((await Promise.all(calls)).map(textOf)).toEqual(['1', '2', '3']);
    expect((await seen(weir)).most).toBeGreaterThan(1);
  });
});

describe.concurrent('a call that waits for a person', () => {
  const answer = { action: 'accept', content: {} };
  const tight = { mcpConcurrentLimit: 1, mcpGlobalTimeout: 1000 };
  /** All is as before: one call fits, and no second. */
  const holdsOne = async (weir: InProcess, ask: Ask): Promise<void> => {
    expect(weir.gateway.canExecute('b')).toBe(true);
    const call = ask('tools/call', { name: 'b:work', arguments: { label: 'one', ms: 300 } });
    await whenSeen(weir, ({ working }) => working === 1);
    expect(weir.gateway.canExecute('b')).toBe(false);
    await call;
  };
  const longer = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1300));

  verifies(
    ['HEALTH-4', 'HEALTH-5'],
    'a call whose client is asked by a request counts towards no limit and no timeout',
    async () => {
      await using weir = limited(tight);
      await weir.initialize(EVERYTHING);
      await weir.tools();
      const asking = weir.callTool('b:ask', { label: 'asks' });
      const question = await weir.call('elicitation/create');
      expect(textOf(await work(weir, 'meanwhile', 0))).toBe('meanwhile');
      await longer();
      weir.send({ id: question.id, result: answer });
      expect(textOf(await asking)).toBe(JSON.stringify(answer));
      await holdsOne(weir, (method, params) => weir.request(method, params));
    },
  );

  verifies(
    ['HEALTH-4', 'HEALTH-5'],
    'concurrent calls that ask their client count towards no limit and no timeout',
    async () => {
      await using weir = limited({ mcpConcurrentLimit: 3, mcpGlobalTimeout: 1000 });
      await weir.initialize(EVERYTHING);
      await weir.tools();
      const asking = ['1', '2', '3'].map((label) => weir.callTool('b:ask', { label }));
      const questions = await Promise.all(asking.map(() => weir.call('elicitation/create')));
      const meanwhile = ['4', '5', '6'].map((label) => work(weir, label, 300));
      expect((await whenSeen(weir, ({ working }) => working === 6)).most).toBe(6);
      expect((await Promise.all(meanwhile)).map(textOf)).toEqual(['4', '5', '6']);
      await longer();
      for (const { id } of questions) weir.send({ id, result: answer });
      expect((await Promise.all(asking)).map(textOf)).toEqual(asking.map(() => JSON.stringify(answer)));
      expect(weir.gateway.canExecute('b')).toBe(true);
    },
  );

  verifies(['HEALTH-4', 'HEALTH-5'], 'a suspended call counts towards no limit and no timeout', async () => {
    await using weir = limited(tight);
    const ask = await open(weir, 'modern', EVERYTHING);
    const params = { name: 'b:ask', arguments: { label: 'asks' } };
    const round = await ask('tools/call', params);
    const meanwhile = { name: 'b:work', arguments: { label: 'meanwhile', ms: 0 } };
    expect(textOf(await ask('tools/call', meanwhile))).toBe('meanwhile');
    await longer();
    expect(textOf(await again(ask, params, round, [answer]))).toBe(JSON.stringify(answer));
    await holdsOne(weir, ask);
  });

  verifies(
    ['HEALTH-4', 'HEALTH-5'],
    'a call between two rounds counts towards no limit and no timeout',
    async () => {
      await using weir = serveInProcess({ b: fixture('modern-rounds') }, { config: tight });
      await weir.initialize(EVERYTHING);
      await weir.tools();
      const form =
        '{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}';
      const rounds = [`{"resultType":"input_required","inputRequests":{"a":${form}}}`];
      const asking = weir.callTool('b:rounds', { key: 'k', rounds });
      const question = await weir.call('elicitation/create');
      expect(textOf(await weir.callTool('b:tries', { key: 'k' }))).toBe('1');
      await longer();
      weir.send({ id: question.id, result: answer });
      expect(textOf(await asking)).toContain('accept');
      expect(weir.gateway.canExecute('b')).toBe(true);
    },
  );
});

describe.concurrent('a limit of calls in a session', () => {
  verifies(
    'HEALTH-5',
    '"mcpSessionLimit" holds for each client, and its error says how to raise it',
    async () => {
      await using weir = limited({ mcpSessionLimit: 3 });
      await weir.tools();
      const { client } = connectClient(weir.gateway, 'another');
      await client.initialize();
      for (const label of ['1', '2', '3']) expect(textOf(await work(weir, label, 0))).toBe(label);
      expect(errorOf(await work(weir, '4', 0))).toBe(
        'This session has made 3 calls, the maximum ("mcpSessionLimit"). Raise it in the config (-1 for no limit), or start a new session.',
      );
      expect(textOf(await work(client, 'other', 0))).toBe('other');
      expect(await weir.tools()).toContain('b:work');
      expect((await seen(weir)).begun).not.toContain('4');
    },
  );

  verifies(['HEALTH-5', 'HEALTH-6'], '"mcpSessionLimit" counts a retried call once', async () => {
    await using weir = limited({ mcpSessionLimit: 1 });
    await weir.tools();
    const args = { file: join(temporaryFolder(), 'died') };
    expect(textOf(await weir.callTool('b:die-reading', args))).toBe('lived');
    expect(errorOf(await work(weir, '2', 0))).toContain('"mcpSessionLimit"');
  });

  verifies(
    ['HEALTH-5', 'ERA-2'],
    '"mcpSessionLimit" counts a call once that is repeated with answers',
    async () => {
      const config = { mcpSessionLimit: 1 };
      await using weir = serveInProcess({ r: fixture('modern-rounds') }, { config });
      const ask = await open(weir, 'modern', EVERYTHING);
      const rounds = ['{"resultType":"input_required","inputRequests":{},"requestState":"one"}'];
      const params = { name: 'r:rounds', arguments: { key: 'k', rounds } };
      const round = await ask('tools/call', params);
      expect(textOf(await again(ask, params, round, []))).toContain('one');
      expect(errorOf(await ask('tools/call', params))).toContain('"mcpSessionLimit"');
    },
  );

  verifies('HEALTH-5', '"mcpSessionLimit" of -1 sets no limit', async () => {
    await using weir = limited({ mcpSessionLimit: -1 });
    await weir.tools();
    expect(weir.gateway.fronts.view().snapshot.callLimits).toBeUndefined();
  });

  verifies('HEALTH-5', '"mcpSessionLimit" of -1 sets no limit beside another limit', async () => {
    await using weir = limited({ mcpSessionLimit: -1, mcpConcurrentLimit: 5 });
    await weir.tools();
    for (const id of ['1', '2', '3']) expect((await work(weir, id, 0)).result).toBeDefined();
  });
});

describe.concurrent('the execution tracker', () => {
  verifies('HEALTH-5', 'canExecute predicts for each session and server if a call is refused', async () => {
    await using weir = serveInProcess(
      { b: fixture('timed-work'), c: fixture('timed-work') },
      { config: { mcpSessionLimit: 2, mcpConcurrentLimit: 1 } },
    );
    await weir.tools();
    const may = (serverId: string, source: InvocationSource = 'program'): boolean =>
      executionTracker(weir.gateway, { serverId, source }).canExecute();
    // The session of this client is over; those of the program are its own.
    for (const label of ['one', 'two']) expect(textOf(await work(weir, label, 0))).toBe(label);
    expect(errorOf(await work(weir, 'three', 0))).toContain('mcpSessionLimit');
    expect([may('b'), may('c')]).toEqual([true, true]);
    const long = weir.gateway.callTool('b:work', { label: 'long', ms: 500 });
    await whenSeen(weir, ({ working }) => working === 1);
    expect([may('b'), may('c'), may('nowhere')]).toEqual([false, true, false]);
    await weir.gateway.callTool('c:work', { label: 'other', ms: 0 });
    await long;
    expect([may('b'), may('b', 'console')]).toEqual([false, true]);
    await expect(weir.gateway.callTool('b:work', {})).rejects.toThrow('mcpSessionLimit');
    await weir.gateway.callTool('b:work', { label: 'console', ms: 0 }, 'console');
    weir.gateway.stopCalls();
    expect(may('b', 'console')).toBe(false);
  });

  verifies('HEALTH-5', 'totalExecuted counts neither refused nor unknown calls', async () => {
    await using weir = limited({ mcpSessionLimit: 2, mcpConcurrentLimit: 1 });
    await weir.tools();
    const executed = (): number => executionTracker(weir.gateway).totalExecuted;
    await weir.callTool('nowhere:x');
    const first = work(weir, 'first', 300);
    weir.send({ id: 'waits', method: 'tools/call', params: { name: 'b:work', arguments: {} } });
    weir.notify('notifications/cancelled', { requestId: 'waits' });
    await first;
    expect(executed()).toBe(1);
    // A call that was cancelled in the queue does not count towards the session.
    expect(textOf(await work(weir, 'second', 0))).toBe('second');
    expect(errorOf(await work(weir, 'third', 0))).toContain('mcpSessionLimit');
    expect(executed()).toBe(2);
  });
});

describe.concurrent('stop', () => {
  verifies(
    'HEALTH-5',
    'stopCalls cancels running and waiting calls, and refuses new ones until resumeCalls',
    async () => {
      await using weir = limited({ mcpConcurrentLimit: 25 });
      await weir.tools();
      const calls = Array.from({ length: 40 }, (_, n) => work(weir, `${n}`, LONG));
      await whenSeen(weir, ({ working }) => working === 25);
      weir.gateway.stopCalls();
      const stopped = 'The operator of the gateway has paused calls. "weir resume" accepts them again.';
      expect(new Set((await Promise.all(calls)).map(errorOf))).toEqual(new Set([stopped]));
      const { begun, cancelled } = await whenSeen(weir, ({ working }) => working === 0);
      expect([begun.length, cancelled.length]).toEqual([25, 25]);
      expect(errorOf(await work(weir, 'refused', 0))).toBe(stopped);
      await expect(weir.gateway.callTool('b:work', {})).rejects.toThrow(stopped);
      expect([weir.gateway.isStopped, weir.gateway.canExecute('b')]).toEqual([true, false]);
      expect(await weir.tools()).toContain('b:work');
      weir.gateway.resumeCalls();
      expect([weir.gateway.isStopped, weir.gateway.canExecute('b')]).toEqual([false, true]);
      expect(textOf(await work(weir, 'again', 0))).toBe('again');
    },
  );

  verifies(
    'HEALTH-5',
    'stopCalls works without any limit, also for calls whose client is asked',
    async () => {
      await using weir = serveInProcess({ b: fixture('timed-work'), r: fixture('modern-rounds') });
      await weir.initialize(EVERYTHING);
      await weir.tools();
      const form =
        '{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}';
      const rounds = [`{"resultType":"input_required","inputRequests":{"a":${form}}}`];
      const calls = [weir.callTool('r:rounds', { key: 'k', rounds }), work(weir, 'runs', LONG)];
      const question = await weir.call('elicitation/create');
      await whenSeen(weir, ({ working }) => working === 1);
      weir.gateway.stopCalls();
      for (const answer of await Promise.all(calls)) expect(errorOf(answer)).toContain('has paused calls');
      expect((await weir.call('notifications/cancelled')).params).toMatchObject({ requestId: question.id });
      weir.gateway.resumeCalls();
      expect(weir.gateway.fronts.view().snapshot.callLimits).toBeUndefined();
      expect(textOf(await work(weir, 'again', 0))).toBe('again');
    },
  );
});

describe.concurrent('stopCalls while a user is asked', () => {
  verifies(['HEALTH-5', 'ERA-2'], 'stopCalls withdraws the question before it ends the call', async () => {
    await using weir = limited();
    await weir.initialize(EVERYTHING);
    const call = weir.callTool('b:ask', { label: 'asks' });
    const question = await weir.call('elicitation/create');
    weir.gateway.stopCalls();
    expect(errorOf(await call)).toContain('has paused calls');
    const [withdrawn, ended] = weir.messages.slice(-2);
    expect(withdrawn).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: question.id, reason: expect.stringContaining('has paused calls') as string },
    });
    expect(ended?.error).toBeDefined();
    weir.send({ id: question.id, result: { action: 'accept', content: {} } });
    weir.gateway.resumeCalls();
    expect(textOf(await work(weir, 'again', 0))).toBe('again');
  });

  verifies(
    ['HEALTH-5', 'ERA-2'],
    'a modern client that answers after stopCalls is told to call again',
    async () => {
      await using weir = limited();
      const ask = await open(weir, 'modern', EVERYTHING);
      const params = { name: 'b:ask', arguments: { label: 'asks' } };
      const round = await ask('tools/call', params);
      weir.gateway.stopCalls();
      weir.gateway.resumeCalls();
      const answer = await again(ask, params, round, [{ action: 'accept', content: {} }]);
      expect(errorOf(answer)).toContain('Make the call again');
      expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
    },
  );
});

describe.concurrent('a time limit', () => {
  verifies.slow(
    'HEALTH-4',
    'a timeout of a tool, a server or all ends the call at its server and for its client',
    async () => {
      const cases = [
        [{ mcpGlobalTimeout: 200 }, {}, '"mcpGlobalTimeout"'],
        [{ mcpGlobalTimeout: LONG }, { timeout: 200 }, `"timeout" of server 'b'`],
        [{}, { timeout: LONG, tools: { work: { timeout: 200 } } }, `"tools"."work"."timeout" of server 'b'`],
      ] as const;
      for (const [config, entry, where] of cases) {
        await using weir = limited(config, entry);
        await weir.tools();
        const text = `Execution exceeded 0.2s without an answer or progress. The limit is 200 ms, set by ${where} in the config: raise it there, or remove it for none.`;
        expect(errorOf(await work(weir, 'long', LONG))).toBe(text);
        expect((await whenSeen(weir, ({ working }) => working === 0)).cancelled).toEqual([text]);
        expect(weir.gateway.history.recent().at(-1)).toMatchObject({
          status: 'timeout',
          error: { message: text },
        });
        expect(textOf(await work(weir, 'short', 0))).toBe('short');
      }
    },
  );

  verifies.slow('HEALTH-4', 'a timeout does not count time in the queue', async () => {
    await using weir = limited({ mcpConcurrentLimit: 1, mcpGlobalTimeout: 2000 });
    await weir.tools();
    const calls = ['1', '2', '3', '4'].map((label) => work(weir, label, 600));
    expect((await Promise.all(calls)).map(textOf)).toEqual(['1', '2', '3', '4']);
  });

  verifies.slow('HEALTH-4', 'progress extends a timeout to ten times its length at most', async () => {
    await using weir = limited({ mcpGlobalTimeout: 500 });
    await weir.tools();
    // Progress counts whether or not the client has asked for it.
    expect(textOf(await work(weir, 'done', 50, { steps: 16 }))).toBe('done');
    expect(weir.messages.some(({ method }) => method === 'notifications/progress')).toBe(false);
    const args = { label: 'never', ms: 50, steps: 2000 };
    const call = weir.request('tools/call', {
      name: 'b:work',
      arguments: args,
      _meta: { progressToken: 'mine' },
    });
    expect((await weir.call('notifications/progress')).params).toEqual({
      progressToken: 'mine',
      progress: 1,
    });
    expect(errorOf(await call)).toMatch(
      /^Execution exceeded 5s, 10 times the limit, and progress does not extend it further\. The limit is 500 ms/u,
    );
  });
});

describe.concurrent('a call whose server is lost', () => {
  const dying = (more: Json = {}): Json & { file: string } => ({
    file: join(temporaryFolder(), 'died'),
    ...more,
  });
  const tries = (file: string): number =>
    existsSync(`${file}.tries`) ? readFileSync(`${file}.tries`, 'utf8').length : 0;

  for (const name of ['die-reading', 'die-same'])
    verifies('HEALTH-6', `the gateway retries a harmless call whose server is lost: ${name}`, async () => {
      await using weir = limited();
      await weir.tools();
      const args = dying();
      expect(textOf(await weir.callTool(`b:${name}`, args))).toBe('lived');
      expect(tries(args.file)).toBe(2);
      expect(weir.gateway.history.recent()).toMatchObject([
        { toolName: name, status: 'success', retryAttempt: 1, maxRetries: 3 },
      ]);
    });

  verifies(
    'HEALTH-6',
    'the history shows 3 retries at most for a harmless call, and 0 for others',
    async () => {
      await using weir = limited();
      await weir.tools();
      await weir.callTool('b:die-reading', dying());
      await work(weir, 'harmful', 0);
      const calls = weir.gateway.history.recent();
      expect(calls.map(({ maxRetries }) => maxRetries)).toEqual([3, 0]);
    },
  );

  verifies('HEALTH-6', 'the history shows a retried call as pending until its server is back', async () => {
    await using weir = serveInProcess(
      { b: fixture('timed-work') },
      { supervision: { ...QUICK, backOffMs: [700, 700, 700] } },
    );
    await weir.tools();
    const call = weir.callTool('b:die-reading', dying());
    await until(() => weir.gateway.history.recent()[0]?.retryAttempt === 1, 10_000);
    expect(weir.gateway.history.recent()[0]).toMatchObject({ status: 'pending', maxRetries: 3 });
    expect(textOf(await call)).toBe('lived');
  });

  verifies('HEALTH-6', 'the gateway retries a call of a client on HTTP', async () => {
    await using weir = await serveTest({ b: fixture('timed-work') }, { supervision: QUICK });
    const { json } = await send(
      weir.url,
      modern('tools/call', { name: 'b:die-reading', arguments: dying() }),
    );
    expect(textOf(json)).toBe('lived');
  });

  verifies('HEALTH-6', 'the gateway retries a call of a lazy server', async () => {
    const state = join(temporaryFolder(), 'state');
    const options = { state, configPath: join(state, 'mcp.json'), lazy: true, supervision: QUICK };
    for (const start of ['first', 'second']) {
      await using weir = serveInProcess(
        { b: fixture('timed-work') },
        { ...options, config: { mcpConcurrentLimit: 1 } },
      );
      await weir.tools();
      expect(textOf(await work(weir, start, 0))).toBe(start);
      const waiting = work(weir, 'waits', 0);
      expect(textOf(await weir.callTool('b:die-reading', dying()))).toBe('lived');
      expect(textOf(await waiting)).toBe('waits');
      expect(weir.gateway.canExecute('b')).toBe(true);
    }
  });

  verifies('HEALTH-6', 'the gateway does not retry a call whose tool does not allow it', async () => {
    await using weir = limited();
    await weir.tools();
    const args = dying();
    expect(errorOf(await weir.callTool('b:die', args))).toBe("Server 'b' exited with code 7");
    expect(tries(args.file)).toBe(1);
  });

  verifies(
    'HEALTH-6',
    'the gateway stops retries before they use up the restarts of the server',
    async () => {
      await using weir = limited();
      await weir.tools();
      const args = dying({ always: true });
      expect(errorOf(await weir.callTool('b:die-reading', args))).toBe("Server 'b' exited with code 7");
      expect(tries(args.file)).toBe(3);
      await until(() => weir.gateway.canExecute('b'), 20_000);
      expect(weir.gateway.reports()[0]).toMatchObject({ enabled: true, autoDisabled: false });
    },
  );

  verifies('HEALTH-6', 'a client can cancel a call while its server is away', async () => {
    await using weir = serveInProcess(
      { b: fixture('timed-work') },
      { supervision: { ...QUICK, backOffMs: [1500, 1500, 1500] } },
    );
    await weir.tools();
    const args = dying();
    weir.send({ id: 'x', method: 'tools/call', params: { name: 'b:die-same', arguments: args } });
    await until(() => !weir.gateway.canExecute('b'), 20_000);
    weir.notify('notifications/cancelled', { requestId: 'x' });
    await until(() => weir.gateway.canExecute('b'), 20_000);
    await weir.tools();
    expect(tries(args.file)).toBe(1);
    expect(weir.messages.some(({ id }) => id === 'x')).toBe(false);
  });

  verifies('HEALTH-6', 'calls that were not sent yet wait for the restart of their server', async () => {
    await using weir = limited({ mcpConcurrentLimit: 1 });
    await weir.tools();
    const death = weir.callTool('b:die', dying());
    const waiting = ['1', '2', '3'].map((label) => work(weir, label, 0));
    expect(errorOf(await death)).toBe("Server 'b' exited with code 7");
    expect((await Promise.all(waiting)).map(textOf)).toEqual(['1', '2', '3']);
    expect(weir.gateway.canExecute('b')).toBe(true);
  });
});
