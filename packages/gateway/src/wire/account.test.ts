import { describe, expect, test } from 'vitest';
import { Accounts, Holding, type Account, type AccountLimits } from './account.ts';

interface Opened {
  readonly account: Account;
  /** Reasons that the owner got for the end of the peer. */
  readonly reasons: string[];
}

function open(accounts: Accounts): Opened {
  const reasons: string[] = [];
  return { account: accounts.open((reason) => reasons.push(reason)), reasons };
}

const create = (limits: Partial<AccountLimits> = {}): Accounts =>
  new Accounts(100, { peerBytes: 50, listBytes: 40, totalBytes: 640, ...limits });
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an account', () => {
  test('an account holds the largest message and the bytes allowed beside it', async () => {
    const { account, reasons } = open(create());
    account.charge(150);
    account.release(150);
    account.charge(150);
    await tick();
    expect(reasons).toEqual([]);
    expect(account.held).toBe(150);
  });

  test('an account ends a peer over its limit once, after the current turn', async () => {
    const { account, reasons } = open(create());
    account.charge(151);
    account.charge(151);
    expect(reasons).toEqual([]);
    await tick();
    expect(reasons).toEqual([
      'left more than 150 bytes unread or made Weir hold them in another way; to allow more, raise "peerBytes" under "limits" in the config',
    ]);
  });

  test('an account ends a peer that sends more requests while its unread answers exceed their limit', async () => {
    const { account, reasons } = open(create());
    account.limitAnswers(100);
    await tick();
    expect(reasons).toEqual([]);
    account.limitAnswers(101);
    account.limitAnswers(101);
    await tick();
    expect(reasons).toEqual([
      'left more than 100 bytes unread while it kept sending requests; to allow more, raise "peerBytes" under "limits" in the config',
    ]);
  });

  test('an account counts lists against a limit of their own', async () => {
    const { account, reasons } = open(create());
    account.charge(150);
    account.chargeList(40);
    await tick();
    expect(reasons).toEqual([]);
    account.chargeList(-1);
    account.chargeList(2);
    await tick();
    expect(reasons).toEqual([
      'lists more than 40 bytes; to allow more, raise "listBytes" under "limits" in the config',
    ]);
  });

  test('a closed account counts nothing', async () => {
    const accounts = create();
    const { account, reasons } = open(accounts);
    account.charge(100);
    account.chargeList(20);
    expect(accounts.total).toBe(120);
    account.close();
    account.close();
    account.release(100);
    account.charge(1000);
    await tick();
    expect([accounts.total, reasons.length]).toEqual([0, 0]);
  });
});

describe('the limit of all accounts', () => {
  test('the limit of all accounts ends only the peer that holds the most', async () => {
    const accounts = create();
    const [small, large, last] = [open(accounts), open(accounts), open(accounts)];
    small.account.charge(120);
    large.account.charge(140);
    large.account.chargeList(10);
    last.account.charge(131);
    last.account.charge(1);
    await tick();
    expect([small.reasons.length, large.reasons.length, last.reasons.length]).toEqual([0, 1, 0]);
    expect(large.reasons[0]).toMatch(
      /^held the most when Weir held more than 400 bytes for all clients and servers/,
    );
    expect(accounts.total).toBe(252);
  });

  test('the limit of all accounts ends the peer that was behind for longest', async () => {
    const KIB = 1024;
    const accounts = new Accounts(1024 * KIB, { totalBytes: 2000 * KIB });
    const [slow, brisk, honest] = [open(accounts), open(accounts), open(accounts)];
    brisk.account.charge(300 * KIB);
    slow.account.charge(300 * KIB);
    brisk.account.release(300 * KIB);
    brisk.account.charge(300 * KIB);
    honest.account.charge(17_000 * KIB);
    await tick();
    expect([slow.reasons.length, brisk.reasons.length, honest.reasons.length]).toEqual([1, 0, 0]);
    expect(slow.reasons[0]).toMatch(/^was behind for longest when Weir held more than/);
  });

  test('the limit of all accounts empties caches before it ends a peer', async () => {
    const accounts = create();
    const [peer, cache] = [open(accounts), open(accounts)];
    const kept = [50, 50, 50].map((bytes) => {
      cache.account.charge(bytes);
      return bytes;
    });
    accounts.addCache(() => {
      const bytes = kept.pop();
      cache.account.release(bytes ?? 0);
      return bytes !== undefined;
    });
    peer.account.charge(140);
    open(accounts).account.charge(140);
    await tick();
    expect([peer.reasons.length, cache.reasons.length, kept.length]).toEqual([0, 0, 2]);
  });

  test('a single peer may hold its own limit even where the limit of all accounts is smaller', async () => {
    const { account, reasons } = open(create({ totalBytes: 1 }));
    account.charge(150);
    await tick();
    expect(reasons).toEqual([]);
  });
});

describe('a holding', () => {
  test('a holding charges its account with the bytes that it holds at present', () => {
    const { account } = open(create());
    const [queue, buffer] = [new Holding(account), new Holding(account)];
    queue.bytes = 30;
    buffer.bytes = 20;
    queue.bytes = 10;
    expect([account.held, queue.bytes]).toEqual([30, 10]);
    queue.bytes = 0;
    buffer.bytes = 0;
    expect(account.held).toBe(0);
  });
});
