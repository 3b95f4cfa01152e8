import { describe, expect, test, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { encode } from '../../wire/json/splice.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import { History, uuidPrefix, type HistoryOptions } from './history.ts';
import type { Invocation, Subject } from './invocation-record.ts';
import type { ToolInvocationRequest } from './invocation.ts';

const SUBJECT = { serverId: 'files', toolText: '"read"', source: 'mcp-client' } as const;

/** The id of the call with this number. */
function idOf(number: number): string {
  return `x-${number.toString(16).padStart(12, '0')}`;
}

function historyOf(options: Partial<HistoryOptions> = {}): History {
  let time = 1000;
  return new History({ now: () => time++, prefix: 'x-', redact: (text) => text, ...options });
}

function answer(body: object): Message {
  return readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }))) as Message;
}

/** A sink for lines, and a reader of its lines. */
function memory() {
  const sink = { append: vi.fn<(lines: string) => void>(), flush: vi.fn(async () => {}) };
  const written = (): ToolInvocationRequest[] =>
    sink.append.mock.calls
      .flatMap(([lines]) => lines.split('\n').slice(0, -1))
      .map((line) => JSON.parse(line) as ToolInvocationRequest);
  return { sink, written };
}

/** Properties of a call that a test makes. */
interface Made {
  readonly subject: Partial<Subject>;
  readonly attempts: number;
  readonly beginsAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly status: 'success' | 'cancelled' | 'timeout';
  readonly result: object;
}

const MADE: Made = {
  subject: {},
  attempts: 1,
  beginsAt: 1000,
  startsAt: 1000,
  endsAt: 1002,
  status: 'success',
  result: { content: [] },
};

/** Returns the record of one call after these events. */
function after(happens: (call: Invocation) => void): unknown {
  const history = historyOf();
  happens(history.begin(SUBJECT));
  return history.recent()[0];
}

describe('the states of a call', () => {
  const begun = { id: idOf(1), serverId: 'files', toolName: 'read', source: 'mcp-client', submittedAt: 1000 };
  const sent = { ...begun, startedAt: 1001, retryAttempt: 0, maxRetries: 0 };

  verifies(
    ['HEALTH-4', 'HEALTH-7'],
    'the status of a call goes from pending through executing to success',
    () => {
      expect(after(() => {})).toEqual({ ...begun, status: 'pending', retryAttempt: 0, maxRetries: 0 });
      expect(after((call) => call.sent())).toEqual({ ...sent, status: 'executing' });
      const whole = after((call) => {
        call.sent();
        call.answered(answer({ result: { content: [] } }));
        call.ended('success');
      });
      const result = { content: [], contentType: 'json', executionDuration: 1 };
      expect(whole).toEqual({ ...sent, status: 'success', completedAt: 1002, result });
    },
  );

  verifies(
    ['HEALTH-4', 'HEALTH-7'],
    'a call ends in an error of the protocol, of the tool or of the gateway',
    () => {
      const failed = (body: object): unknown =>
        after((call) => {
          call.sent();
          call.answered(answer(body));
          call.ended('isError' in (body as { result?: object }) ? 'error' : 'success');
        });
      expect(failed({ error: { code: -32001, message: 'No', data: 'secret' } })).toMatchObject({
        status: 'error',
        error: { code: -32001, message: 'No' },
      });
      expect(failed({ error: { code: -32001, message: 'No', data: 'secret' } })).not.toHaveProperty(
        'error.data',
      );
      expect(failed({ result: { content: [{ text: 'private' }], isError: true } })).toMatchObject({
        status: 'error',
        error: { message: 'The tool reported an error' },
      });
      expect(failed({ result: { structuredContent: { isError: true } } })).toMatchObject({
        status: 'success',
      });
      expect(after((call) => call.ended('error', { message: 'gone', code: 1 }))).toEqual({
        ...begun,
        status: 'error',
        completedAt: 1001,
        retryAttempt: 0,
        maxRetries: 0,
        error: { message: 'gone', code: 1 },
      });
    },
  );

  verifies('HEALTH-4', 'a call ends as timeout or cancelled, and an end is final', () => {
    for (const status of ['timeout', 'cancelled'] as const)
      expect(
        after((call) => {
          call.ended(status);
          call.ended('success');
        }),
      ).toMatchObject({ status, completedAt: 1001 });
  });

  verifies(['HEALTH-4', 'HEALTH-7'], 'a retried call is pending again with one more attempt', () => {
    const retried = after((call) => {
      call.sent();
      call.answered(answer({ error: { code: 1, message: 'once' } }));
      call.ended('retried');
    });
    expect(retried).toMatchObject({ status: 'pending', retryAttempt: 1, maxRetries: 0 });
    expect(retried).not.toHaveProperty('error');
  });
});

describe('the result of a call', () => {
  const output = { content: [{ type: 'text', text: 'a private word' }] };

  verifies(
    'HEALTH-4',
    'the result of a call is whole in memory, and without content in files and for followers',
    async () => {
      const { sink, written } = memory();
      const history = historyOf({ sink });
      const told = vi.fn();
      history.follow(told);
      const call = history.begin(SUBJECT);
      call.sent();
      call.answered(answer({ result: output }));
      call.ended('success');
      await history.close();
      const known = { contentType: 'text', executionDuration: 1 };
      expect(history.recent()[0]?.result).toEqual({ content: 'a private word', ...known });
      expect(history.recent({ withContent: false })[0]?.result).toEqual(known);
      expect(told.mock.calls).toMatchObject([[{ result: known }]]);
      expect(written()[0]?.result).toEqual(known);
      expect(JSON.stringify([written(), told.mock.calls])).not.toContain('private');
    },
  );

  verifies('HEALTH-4', 'the result of a call is kept without its content unless results are kept', () => {
    const history = historyOf({ keepsResults: false });
    const keep = vi.spyOn(history.results, 'keep');
    const call = history.begin(SUBJECT);
    call.sent();
    call.answered(answer({ result: output }));
    call.ended('success');
    expect(history.recent()[0]?.result).toEqual({ contentType: 'text', executionDuration: 1 });
    expect(keep).not.toHaveBeenCalled();
  });

  verifies('HEALTH-4', 'a failed call has no result, and a retried one only that of its last attempt', () => {
    const failed = after((call) => {
      call.sent();
      call.answered(answer({ result: { ...output, isError: true } }));
      call.ended('success');
    });
    expect(failed).not.toHaveProperty('result');
    const again = after((call) => {
      call.sent();
      call.answered(answer({ result: output }));
      call.ended('retried');
      call.sent();
      call.ended('cancelled');
    });
    expect(again).not.toHaveProperty('result');
  });
});

verifies(['HEALTH-4', 'HEALTH-5'], 'a call counts as executed once, from when it is sent', () => {
  const history = historyOf();
  history.begin(SUBJECT).ended('error', { message: 'refused' });
  const call = history.begin({ ...SUBJECT, source: 'program' });
  call.sent();
  call.ended('retried');
  call.sent();
  history.begin(SUBJECT).sent();
  expect([history.executed(), history.executed('program'), history.executed('cli')]).toEqual([2, 1, 0]);
});

describe('the records of calls', () => {
  verifies('HEALTH-7', 'history keeps the last thousand calls, oldest first', () => {
    const history = historyOf();
    for (let call = 0; call < 2500; call++) history.begin(SUBJECT);
    const ids = history.recent().map(({ id }) => id);
    expect(ids).toHaveLength(1000);
    expect([ids[0], ids.at(-1)]).toEqual([idOf(1501), idOf(2500)]);
  });

  verifies('HEALTH-7', 'history keeps arguments only if configured, and only short ones', () => {
    expect(after(() => {})).not.toHaveProperty('parameters');
    const history = historyOf({ keepsArguments: true });
    history.begin({ ...SUBJECT, argumentsText: '{"a":[1]}' });
    history.begin({ ...SUBJECT, argumentsText: JSON.stringify({ a: 'x'.repeat(5000) }) });
    const [short, long] = history.recent();
    expect(short?.parameters).toEqual({ a: [1] });
    expect(JSON.stringify(long?.parameters).length).toBeLessThan(50);
  });

  verifies('HEALTH-7', 'history redacts the errors of calls', () => {
    const history = historyOf({ redact: (text) => text.replace('hunter2', '[hidden]') });
    history.begin(SUBJECT).ended('error', { message: 'wrong password hunter2' });
    expect(history.recent()[0]?.error).toEqual({ message: 'wrong password [hidden]' });
  });

  test('the history line of a call equals its record', async () => {
    const { sink, written } = memory();
    const history = historyOf({ sink });
    const names = ['"read"', '"a\\"b\\u00e9"', Buffer.from('"é水"').toString('latin1')];
    for (const toolText of names)
      for (const status of ['success', 'timeout', 'error'] as const) {
        const clientText = toolText === '"read"' ? '{"name":"a \\"b\\"","version":"1"}' : undefined;
        const call = history.begin({ ...SUBJECT, serverId: 'a "b" é', toolText, clientText });
        call.sent();
        call.answered(answer({ result: { content: [{ type: 'text', text: 'x' }] } }));
        call.ended(status, status === 'error' ? { message: 'x' } : undefined);
      }
    await history.close();
    expect(written()).toEqual(history.recent({ withContent: false }));
    expect(history.recent().map(({ toolName }) => toolName)).toEqual(
      expect.arrayContaining(['read', 'a"bé', 'é水']),
    );
  });

  test.each<[what: string, other: Partial<Made>]>([
    ['nothing', {}],
    ['the server', { subject: { serverId: 'git' } }],
    ['the tool', { subject: { toolText: '"write"' } }],
    ['a tool name that is not ASCII', { subject: { toolText: encode('é') } }],
    ['the source', { subject: { source: 'cli' } }],
    ['the client', { subject: { clientText: '{"name":"a","version":"1"}' } }],
    ['the retries', { subject: { maxRetries: 3 } }],
    ['an attempt', { attempts: 2 }],
    ['its beginning', { beginsAt: 999 }],
    ['its start', { startsAt: 1001 }],
    ['its end', { endsAt: 1003 }],
    ['its status', { status: 'cancelled' }],
    ['the type of its result', { result: { content: [{ type: 'text', text: 'x' }] } }],
    ['the tokens', { result: { content: [], _meta: { tokensUsed: 7 } } }],
  ])('the history lines of calls that differ in %s equal their records', async (_, other) => {
    const { sink, written } = memory();
    let time = 0;
    const history = historyOf({ sink, now: () => time });
    const call = ({ subject, attempts, beginsAt, startsAt, endsAt, status, result }: Made): void => {
      time = beginsAt;
      const made = history.begin({ ...SUBJECT, ...subject });
      time = startsAt;
      made.sent();
      for (let attempt = 1; attempt < attempts; attempt++) {
        made.ended('retried');
        made.sent();
      }
      made.answered(answer({ result }));
      time = endsAt;
      made.ended(status);
    };
    for (const one of [MADE, { ...MADE, ...other }, { ...MADE, ...other, status: 'timeout' as const }, MADE])
      call(one);
    await history.close();
    expect(written()).toHaveLength(4);
    expect(written()).toEqual(history.recent({ withContent: false }));
  });

  test('history writes and reports each finished call once', async () => {
    const { sink, written } = memory();
    const told = vi.fn();
    const history = historyOf({ sink });
    const unfollow = history.follow(told);
    const call = history.begin(SUBJECT);
    call.ended('success');
    call.ended('cancelled');
    expect(told.mock.calls).toEqual([[history.recent()[0]]]);
    unfollow();
    history.begin(SUBJECT).ended('success');
    expect(told).toHaveBeenCalledTimes(1);
    history.begin(SUBJECT);
    await history.close();
    expect(written()).toEqual(history.recent().slice(0, 2));
    expect(sink.flush).toHaveBeenCalledTimes(1);
  });

  verifies('HEALTH-7', 'history writes the lines of a turn together a moment later', async () => {
    const { sink, written } = memory();
    const history = historyOf({ sink });
    for (let call = 0; call < 3; call++) history.begin(SUBJECT).ended('success');
    expect(written()).toEqual([]);
    await expect.poll(written).toEqual(history.recent());
    expect(sink.append).toHaveBeenCalledTimes(1);
  });

  verifies('HEALTH-7', 'history writes every call of thousands that end in one turn', async () => {
    const { sink, written } = memory();
    const history = historyOf({ sink });
    const long = history.begin(SUBJECT);
    for (let call = 2; call < 3500; call++) history.begin(SUBJECT).ended('success');
    expect(history.recent().map(({ id }) => id)).not.toContain(idOf(1));
    long.ended('timeout');
    await history.close();
    const ids = written().map(({ id }) => id);
    expect(ids).toEqual([...Array.from({ length: 3498 }, (_, call) => idOf(call + 2)), idOf(1)]);
    expect(sink.append.mock.calls.length).toBeLessThan(5);
  });

  test('history writes a call that ends during the last flush', async () => {
    const { sink, written } = memory();
    const history = historyOf({ sink });
    history.begin(SUBJECT).ended('success');
    sink.flush.mockImplementationOnce(async () => history.begin(SUBJECT).ended('error'));
    await history.close();
    expect(written()).toHaveLength(2);
  });

  verifies('HEALTH-7', 'history keeps the place of a long call among the last thousand', () => {
    const history = historyOf();
    const long = history.begin(SUBJECT);
    for (let call = 2; call < 1000; call++) history.begin(SUBJECT).ended('success');
    expect(history.recent()[0]).toMatchObject({ id: idOf(1), status: 'pending' });
    long.ended('success');
    expect(history.recent()[0]).toMatchObject({ id: idOf(1), status: 'success' });
    expect(history.recent()).toHaveLength(999);
  });
});

verifies('HEALTH-4', 'uuidPrefix and a number of twelve digits make a UUID', () => {
  const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u;
  for (const random of [() => 0, () => 1 - Number.EPSILON, Math.random])
    expect(`${uuidPrefix(random)}00000000000f`).toMatch(uuid);
  expect(new Set(Array.from({ length: 1000 }, () => uuidPrefix(Math.random))).size).toBe(1000);
});
