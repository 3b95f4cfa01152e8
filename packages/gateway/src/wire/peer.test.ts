import { describe, expect, test, vi } from 'vitest';
import { RpcError } from '../errors.ts';
import { Accounts, NO_ACCOUNT } from './account.ts';
import { lineBytes } from './json/splice.ts';
import type { Link } from './link.ts';
import { readMessage, type Message } from './message.ts';
import { Peer, type Cancellable, type ResponseHandler } from './peer.ts';

const V = '"jsonrpc":"2.0"';
const message = (line: string): Message => readMessage(Buffer.from(line)) as Message;
const answer = (id: string): Message => message(`{${V},"id":${id},"result":{}}`);
const gone = new RpcError(-32000, 'gone');

interface Connected {
  readonly peer: Peer;
  readonly link: Link;
  readonly sent: unknown[];
}

function connect(): Connected {
  const sent: unknown[] = [];
  const link = {
    send: (line: Parameters<Link['send']>[0]) => void sent.push(JSON.parse(lineBytes(line).toString())),
    pause: vi.fn<() => void>(),
    resume: vi.fn<() => void>(),
    close: vi.fn<() => void>(),
    backlog: 42,
    account: NO_ACCOUNT,
  };
  return { peer: new Peer(link), link, sent };
}

const waiter = (): ResponseHandler => ({
  answered: vi.fn<() => void>(),
  progressed: vi.fn<() => void>(),
  lost: vi.fn<() => void>(),
});
const served = (id: string): Cancellable => ({
  id,
  cancel: vi.fn<() => void>(),
  abandon: vi.fn<() => void>(),
});

describe('a response handler', () => {
  test('a peer passes an answer to its handler once', () => {
    const { peer } = connect();
    const [first, second] = [waiter(), waiter()];
    peer.onResponse(first);
    const id = peer.onResponse(second);
    expect(peer.take(answer(String(id)))).toBe(true);
    expect(peer.take(answer(String(id)))).toBe(false);
    expect(second.answered).toHaveBeenCalledTimes(1);
    expect(first.answered).not.toHaveBeenCalled();
  });

  test.each(['1', '1.0', '10e-1', '"1"'])('a peer accepts the id %s for the number 1', (id) => {
    const { peer } = connect();
    const one = waiter();
    peer.onResponse(one);
    expect(peer.take(answer(id))).toBe(true);
    expect(one.answered).toHaveBeenCalledTimes(1);
  });

  test.each([
    '0',
    '2',
    '-1',
    '1.5',
    '1e400',
    '4294967297',
    '""',
    '" "',
    '" 1"',
    '"01"',
    '"0x1"',
    '"1e0"',
    '"1.0"',
    '"+1"',
    '"one"',
    '"\\u0031"',
  ])('a peer does not accept the id %s for the number 1', (id) => {
    const { peer } = connect();
    const one = waiter();
    peer.onResponse(one);
    expect(peer.take(answer(id))).toBe(false);
    peer.failRequest(id, gone);
    expect(one.answered).not.toHaveBeenCalled();
    expect(one.lost).not.toHaveBeenCalled();
  });

  test('a handler learns that its request has failed', () => {
    const { peer } = connect();
    const one = waiter();
    peer.failRequest(String(peer.onResponse(one)), gone);
    expect(one.lost).toHaveBeenCalledExactlyOnceWith(gone, undefined);
    expect(peer.take(answer('1'))).toBe(false);
  });

  test('a forgotten handler gets neither answers nor failures', () => {
    const { peer } = connect();
    const one = waiter();
    peer.forget(peer.onResponse(one));
    expect(peer.take(answer('1'))).toBe(false);
    peer.fail(gone);
    expect(one.lost).not.toHaveBeenCalled();
  });

  test.each([
    ['1', 1],
    ['"1"', 1],
    ['2', 0],
    ['null', 0],
    ['[1]', 0],
    ['""', 0],
  ])('a handler with the id 1 gets progress under the token %s: %i times', (token, times) => {
    const { peer } = connect();
    const one = waiter();
    peer.onResponse(one);
    const notice = message(
      `{${V},"method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`,
    );
    // No other peer may get it: clients drop the connection over a token they do not know.
    expect(peer.take(notice)).toBe(true);
    expect(one.progressed).toHaveBeenCalledTimes(times);
  });
});

describe('a request that a peer has sent', () => {
  test('a peer cancels its request by the id of the request', () => {
    const { peer } = connect();
    const [one, two] = [served('"a"'), served('"b"')];
    peer.track(one);
    peer.track(two);
    const notice = message(`{${V},"method":"notifications/cancelled","params":{"requestId":"b"}}`);
    expect(peer.take(notice)).toBe(true);
    expect(two.cancel).toHaveBeenCalledExactlyOnceWith(notice);
    expect(one.cancel).not.toHaveBeenCalled();
  });

  test('a request that has ended is neither cancelled nor abandoned', () => {
    const { peer } = connect();
    const one = served('1');
    const ticket = peer.track(one);
    expect(peer.trackedCount).toBe(1);
    peer.untrack(ticket);
    expect(peer.trackedCount).toBe(0);
    peer.take(message(`{${V},"method":"notifications/cancelled","params":{"requestId":1}}`));
    peer.fail(gone);
    expect(one.cancel).not.toHaveBeenCalled();
    expect(one.abandon).not.toHaveBeenCalled();
  });

  test('a cancellation without an id cancels no request', () => {
    const { peer } = connect();
    const one = served('1');
    peer.track(one);
    for (const params of ['', ',"params":{}', ',"params":{"requestId":null}']) {
      expect(peer.take(message(`{${V},"method":"notifications/cancelled"${params}}`))).toBe(true);
    }
    expect(one.cancel).not.toHaveBeenCalled();
  });
});

describe('a lost peer', () => {
  test('a lost peer fails the requests to it and abandons those from it', async () => {
    const { peer } = connect();
    const [one, two] = [waiter(), served('1')];
    peer.onResponse(one);
    peer.track(two);
    const asked = peer.request('m');
    peer.fail(gone);
    await expect(asked).rejects.toBe(gone);
    expect(one.lost).toHaveBeenCalledExactlyOnceWith(gone);
    expect(two.abandon).toHaveBeenCalledExactlyOnceWith('gone');
    expect(peer.gone).toBe(gone);
  });

  test('a lost peer gets no more requests and keeps the first reason', async () => {
    const { peer, sent } = connect();
    expect(peer.gone).toBeUndefined();
    peer.fail(gone);
    peer.fail(new RpcError(-1, 'again'));
    await expect(peer.request('m')).rejects.toBe(gone);
    expect(sent).toEqual([]);
  });
});

describe('a request of our own', () => {
  test('a request of our own resolves with the response', async () => {
    const { peer, sent } = connect();
    const asked = peer.request('m', '{"a":1}');
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1 } }]);
    peer.take(message(`{${V},"method":"notifications/progress","params":{"progressToken":1}}`));
    peer.take(answer('1'));
    expect((await asked).kind).toBe('response');
  });

  test('our own requests and notifications may be sent without params', () => {
    const { peer, sent } = connect();
    void peer.request('m').catch(() => {});
    peer.notify('n');
    peer.notify('n', { é: 1 });
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'm', params: {} },
      { jsonrpc: '2.0', method: 'n' },
      { jsonrpc: '2.0', method: 'n', params: { é: 1 } },
    ]);
  });
});

test('a peer leaves requests and other notifications to the caller of take', () => {
  const { peer } = connect();
  peer.onResponse(waiter());
  expect(peer.take(message(`{${V},"id":1,"method":"m"}`))).toBe(false);
  expect(peer.take(message(`{${V},"method":"notifications/message","params":{}}`))).toBe(false);
});

test('a peer charges its account with the bytes of a request until the request ends', () => {
  const account = new Accounts(100_000).open(() => {});
  const peer = new Peer({ ...connect().link, account });
  const ticket = peer.track({ ...served('1'), bytes: 500 });
  expect(account.held).toBe(1524);
  peer.untrack(ticket);
  peer.untrack(ticket);
  expect(account.held).toBe(0);
});

test('a peer is behind above the limit of unwritten bytes, and slow above a quarter of it', () => {
  const account = new Accounts(100, { peerBytes: 42 }).open(() => {});
  const { link } = connect();
  expect(new Peer({ ...link, account, backlog: 42 }).isBehind).toBe(false);
  expect(new Peer({ ...link, account, backlog: 43 }).isBehind).toBe(true);
  expect(new Peer({ ...link, account, backlog: 10 }).isSlow).toBe(false);
  expect(new Peer({ ...link, account, backlog: 11 }).isSlow).toBe(true);
});

test('a peer pauses and resumes its link', () => {
  const { peer, link } = connect();
  peer.pause();
  peer.resume();
  expect([link.pause, link.resume].every((call) => vi.mocked(call).mock.calls.length === 1)).toBe(true);
});
