import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { Meta } from '../../protocol/eras.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { NO_ACCOUNT } from '../../wire/account.ts';
import { lineBytes, type Line } from '../../wire/json/splice.ts';
import type { Link } from '../../wire/link.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import { Peer } from '../../wire/peer.ts';
import type { Caller } from '../client-request.ts';
import { relay, InFlightRequest } from '../relay.ts';
import { ask } from './ask.ts';
import { QuestionBudget } from './question-budget.ts';
import { RequestStates } from './request-state.ts';
import { SuspendedCalls } from './suspended-calls.ts';

const MINUTES = 60 * 1000;
const META = JSON.stringify({ [Meta.CLIENT_CAPABILITIES]: { roots: {}, elicitation: {} } });

/** One end of a wire: its received messages, and its peer. */
class Wire implements Link {
  readonly sent: Received[] = [];
  readonly account = NO_ACCOUNT;
  readonly backlog = 0;
  readonly peer: Peer = new Peer(this);

  send(line: Line): void {
    this.sent.push(JSON.parse(lineBytes(line).toString('utf8')) as Received);
  }
  pause(): void {}
  resume(): void {}
  close(): void {}

  /** Says something as this end would. */
  says(message: object): Message {
    const read = read1({ jsonrpc: '2.0', ...message });
    this.peer.take(read);
    return read;
  }
}

interface Received {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: number };
  readonly result?: { readonly requestState?: string; readonly inputRequests?: Record<string, unknown> };
  readonly error?: { readonly code: number; readonly message: string };
}

function read1(value: object): Message {
  const message = readMessage(Buffer.from(JSON.stringify(value)));
  if (message.kind === 'invalid') throw new Error('invalid');
  return message;
}

/** A modern client, a legacy server, and calls between them. */
class Stage {
  time = 0;
  readonly suspendedCalls = new SuspendedCalls(new RequestStates(() => this.time));
  readonly budget = new QuestionBudget(() => this.time);
  readonly client = new Wire();
  readonly server = new Wire();
  readonly upstream = { peer: this.server.peer, era: 'legacy', serverKey: 's' } as Upstream;
  readonly caller: Caller = {
    origin: this.client.peer,
    era: 'modern',
    envelope: { clientInfo: { name: 'c', version: '1' }, capabilities: '{}' },
    client: {
      isSharedToken: false,
      canBeAsked: false,
      identity: 'me',
      recipient: () => this.client.peer,
      notified() {},
    },
  };

  call(id: string, more: object = {}): Message {
    return read1({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 't', ...more, _meta: JSON.parse(META) as object },
    });
  }

  /** Sends a call of the client; returns the id that the server sees. */
  start(id: string, more?: object): number {
    const request = this.call(id, more);
    const { client, server, caller } = this;
    relay(request, {
      from: client.peer,
      to: server.peer,
      caller,
      request,
      translation: { request: () => [] },
    });
    return this.server.sent.at(-1)?.id as number;
  }

  /** Sends a question of the server during a call; returns the client's response. */
  async asks(id: string, related?: number): Promise<Received> {
    const question = read1({ jsonrpc: '2.0', id, method: 'roots/list' });
    const { suspendedCalls } = this;
    ask(this.upstream, question, {
      related,
      onlyClient: undefined,
      suspendedCalls,
      budget: this.budget,
      tasks: undefined as never,
    });
    await vi.advanceTimersByTimeAsync(10);
    return this.client.sent.at(-1) ?? {};
  }

  /** The client comes back. */
  returns(id: string, round: Received, answer?: object): ReturnType<SuspendedCalls['resume']> {
    const keys = Object.keys(round.result?.inputRequests ?? {});
    const inputResponses = Object.fromEntries(answer === undefined ? [] : keys.map((key) => [key, answer]));
    const state = { inputResponses, requestState: round.result?.requestState };
    return this.suspendedCalls.resume(this.call(id, state), this.caller);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a suspended call', () => {
  verifies('ERA-2', 'a suspended call can be resumed for ten minutes and no longer', async () => {
    const stage = new Stage();
    const sentId = stage.start('first');
    const round = await stage.asks('q');
    stage.time = 10 * MINUTES;
    expect(stage.returns('second', round)).toMatchObject({ code: -32602 });
    stage.time = 10 * MINUTES - 1;
    expect(stage.returns('second', round, { roots: [] })).toBeUndefined();
    stage.server.says({ id: sentId, result: { content: [] } });
    expect(stage.client.sent.at(-1)).toMatchObject({ id: 'second', result: { content: [] } });
    expect(stage.suspendedCalls.size).toBe(0);
  });

  verifies(
    'ERA-2',
    "a suspended call that times out fails its question and cancels the server's call",
    async () => {
      const stage = new Stage();
      const sentId = stage.start('first');
      await stage.asks('q');
      await vi.advanceTimersByTimeAsync(10 * MINUTES);
      expect(stage.server.sent.slice(-2)).toMatchObject([
        { id: 'q', error: { code: -32000, message: 'The client did not repeat its call with an answer' } },
        { method: 'notifications/cancelled', params: { requestId: sentId } },
      ]);
      expect([
        stage.suspendedCalls.size,
        stage.server.peer.handlers(),
        stage.server.peer.trackedCount,
      ]).toEqual([0, [], 0]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  verifies('ERA-2', 'a suspended call leaves no state behind however it ends', async () => {
    const stage = new Stage();
    const endings = [
      (sentId: number) => stage.server.says({ id: sentId, result: {} }),
      (sentId: number) => stage.server.says({ id: sentId, error: { code: 1, message: 'no' } }),
      () => stage.client.says({ method: 'notifications/cancelled', params: { requestId: 'again' } }),
      () => stage.client.peer.fail(new Error('gone') as never),
    ];
    for (const end of endings) {
      const sentId = stage.start('first');
      const round = await stage.asks('q', sentId);
      expect(stage.returns('again', round, {})).toBeUndefined();
      expect(stage.suspendedCalls.size).toBe(1);
      end(sentId);
      expect([
        stage.suspendedCalls.size,
        stage.server.peer.trackedCount,
        stage.client.peer.trackedCount,
      ]).toEqual([0, 0, 0]);
      expect(stage.server.peer.handlers()).toEqual([]);
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  verifies('ERA-2', 'a thousand calls may be suspended at once, and one more is refused', async () => {
    const stage = new Stage();
    for (let i = 0; i < 1000; i++) {
      const sentId = stage.start('first');
      const round = await stage.asks(`q${i}`, sentId);
      stage.returns('second', round, { roots: [] });
      stage.server.says({ id: sentId, result: {} });
    }
    expect([
      stage.suspendedCalls.size,
      stage.server.peer.trackedCount,
      stage.client.peer.trackedCount,
    ]).toEqual([0, 0, 0]);
    expect([stage.server.peer.handlers(), vi.getTimerCount()]).toEqual([[], 0]);
    for (let i = 0; i < 1000; i++) await stage.asks(`r${i}`, stage.start(`call ${i}`));
    expect(stage.suspendedCalls.size).toBe(1000);
    await stage.asks('too many', stage.start('last'));
    expect(stage.server.sent.at(-1)).toMatchObject({ id: 'too many', error: { code: -32000 } });
    stage.suspendedCalls.close();
    expect([stage.suspendedCalls.size, vi.getTimerCount()]).toEqual([0, 0]);
  });

  verifies('SAFE-4', 'M7: suspended calls keep at most 64 MiB of arguments together', async () => {
    const stage = new Stage();
    const argument = 'x'.repeat(16 * 1024 * 1024 - 1024);
    for (let i = 0; i < 4; i++) await stage.asks(`q${i}`, stage.start(`call ${i}`, { argument }));
    expect(stage.suspendedCalls.size).toBe(4);
    await stage.asks('too many', stage.start('last', { argument }));
    expect(stage.server.sent.at(-1)).toMatchObject({ id: 'too many', error: { code: -32000 } });
    await stage.asks('small', stage.start('another'));
    expect(stage.suspendedCalls.size).toBe(5);
    stage.suspendedCalls.close();
    expect(stage.suspendedCalls.size).toBe(0);
    await stage.asks('again', stage.start('later', { argument }));
    expect(stage.suspendedCalls.size).toBe(1);
    stage.suspendedCalls.close();
  });

  test('a question is refused if its call ends before it reaches the client', async () => {
    const stage = new Stage();
    const sentId = stage.start('first');
    const asked = stage.asks('q');
    stage.server.says({ id: sentId, result: {} });
    await asked;
    expect(stage.client.sent).toMatchObject([{ id: 'first', result: {} }]);
    expect(stage.server.sent.at(-1)).toMatchObject({
      id: 'q',
      error: { message: 'The call that this question belongs to has ended' },
    });
  });

  test('a new question belongs to a call that is not suspended yet', async () => {
    const stage = new Stage();
    const [older, newer] = [stage.start('older'), stage.start('newer')];
    expect(await stage.asks('of the newer')).toMatchObject({ id: 'newer' });
    expect(await stage.asks('of the older')).toMatchObject({ id: 'older' });
    expect([older, newer].map((id) => stage.server.peer.handler(id) instanceof InFlightRequest)).toEqual([
      true,
      true,
    ]);
  });

  verifies('ERA-2', 'a question of an ended call is refused where the transport names its call', async () => {
    const stage = new Stage();
    stage.start('mine');
    // The call that it is about is over.
    await stage.asks('q', 4711);
    expect(stage.client.sent).toEqual([]);
    expect(stage.server.sent.at(-1)).toMatchObject({ id: 'q', error: { code: -32000 } });
  });
});
