import { expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { Deferred } from '../../time/deferred.ts';
import { Accounts, type Account } from '../../wire/account.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import { NO_LISTS } from './catalogue.ts';
import { LiveCatalogue } from './live-catalogue.ts';

const SCHEMA = '"inputSchema":{"type":"object"}';

const REFUSED = '"error":{"code":-32603,"message":"refused"}';
const CHANGED = 'notifications/tools/list_changed';

/** A server whose lists are answered by hand, in any order. */
class ByHand {
  readonly asked: { readonly params: string; answer(result: string): void }[] = [];
  readonly changes: string[] = [];
  readonly warnings: string[] = [];
  /** Requested length of each pause, in milliseconds. */
  readonly pauses: number[] = [];
  isGone = false;
  #now = 1_000_000;
  #due: (() => void)[] = [];
  readonly account: Account = new Accounts(0).open(() => {});
  readonly catalogue: LiveCatalogue = new LiveCatalogue({
    capabilities: { tools: {} },
    era: 'legacy',
    meta: '',
    earlier: NO_LISTS,
    timers: {
      now: () => this.#now,
      later: (ms, action) => {
        this.pauses.push(ms);
        this.#due.push(() => {
          this.#now += ms;
          action();
        });
        return () => void (this.#due = []);
      },
    },
    isGone: () => this.isGone,
    account: this.account,
    request: (_, params) => {
      const answer = new Deferred<Message>();
      this.asked.push({ params, answer: (result) => answer.resolve(listAnswer(result)) });
      return answer.promise;
    },
    warn: (text) => void this.warnings.push(text),
    changed: (kind) => void this.changes.push(kind),
  });

  get names(): string[] {
    return this.catalogue.listings.tools.items.map(({ key }) => key);
  }

  async answer(result: string): Promise<void> {
    this.asked.shift()?.answer(result);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets time pass without anything that is due. */
  wait(ms: number): void {
    this.#now += ms;
  }

  /** Lets the pause pass that has begun. */
  pass(): void {
    for (const action of this.#due.splice(0)) action();
  }

  /** Reads the list after news, the pause before it included; more news come during the reading. */
  async readAfterNews(result: string): Promise<void> {
    this.pass();
    this.catalogue.refresh(CHANGED);
    this.catalogue.refresh(CHANGED);
    await this.answer(result);
  }
}

function listAnswer(result: string): Message {
  const body = result === REFUSED ? REFUSED : `"result":${result}`;
  return readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,${body}}`)) as Message;
}

verifies('AGG-REG-2', 'a list that changes during its first reading is read again', async () => {
  const server = new ByHand();
  const loaded = server.catalogue.loadAll(() => 1000);
  server.catalogue.refresh(CHANGED);
  const known = server.catalogue.readNow('tools');
  expect(server.asked).toHaveLength(1);
  await server.answer(`{"tools":[{"name":"old",${SCHEMA}}],"nextCursor":"2"}`);
  await server.answer(`{"tools":[{"name":"older",${SCHEMA}}]}`);
  await loaded;
  expect(server.names).toEqual(['old', 'older']);
  await server.answer(`{"tools":[{"name":"new",${SCHEMA}}]}`);
  await known;
  expect(server.names).toEqual(['new']);
  expect(server.changes).toContain('tools');
  expect(server.asked).toEqual([]);
});

const SAME = `{"tools":[{"name":"a",${SCHEMA}}]}`;

/** A server with one tool that has been read once, with news during that reading. */
async function announcing(): Promise<ByHand> {
  const server = new ByHand();
  const loaded = server.catalogue.loadAll(() => 1000);
  server.catalogue.refresh(CHANGED);
  await server.answer(SAME);
  await loaded;
  return server;
}

verifies('AGG-REG-2', 'each reading of an unchanged list doubles the pause, up to 30 s', async () => {
  const server = await announcing();
  for (let reading = 0; reading < 12; reading++) await server.readAfterNews(SAME);
  expect(server.pauses).toEqual([
    0, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000,
  ]);
  expect(server.changes).toEqual([]);
});

const named = (name: string | number): string => `{"tools":[{"name":"${name}",${SCHEMA}}]}`;

verifies('AGG-REG-2', 'a reading of a changed list shortens the pause to 5 s', async () => {
  const server = await announcing();
  for (let reading = 0; reading < 9; reading++) await server.readAfterNews(SAME);
  await server.readAfterNews(named('b'));
  await server.readAfterNews(named('b'));
  expect(server.pauses.slice(-3)).toEqual([25_600, 5000, 10_000]);
  expect(server.changes).toEqual(['tools']);
});

verifies(['SAFE-4', 'AGG-REG-2'], 'M4: a list that differs at each reading is read every 5 s', async () => {
  const server = await announcing();
  for (let reading = 0; reading < 9; reading++) await server.readAfterNews(named(reading));
  expect(server.pauses).toEqual([0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
});

verifies(['SAFE-4', 'AGG-REG-2'], 'M4: a list that changes twice a minute is read at once', async () => {
  const server = await announcing();
  server.pass();
  await server.answer(SAME);
  for (let reading = 0; reading < 4; reading++) {
    server.wait(30_000);
    server.catalogue.refresh(CHANGED);
    server.pass();
    await server.answer(named(reading));
  }
  expect(server.pauses.slice(1)).toEqual([0, 0, 0, 0]);
});

verifies('AGG-REG-2', 'a failed reading counts as a reading of an unchanged list', async () => {
  const server = await announcing();
  await server.readAfterNews(REFUSED);
  await server.readAfterNews(REFUSED);
  expect(server.pauses).toEqual([0, 100, 200]);
  expect(server.names).toEqual(['a']);
  expect(server.warnings).toHaveLength(2);
});

verifies('AGG-REG-2', 'a list that changes after the pause is read at once', async () => {
  const server = await announcing();
  for (let reading = 0; reading < 3; reading++) await server.readAfterNews(SAME);
  server.pass();
  await server.answer(SAME);
  server.wait(300);
  server.catalogue.refresh(CHANGED);
  server.pass();
  await server.answer(SAME);
  server.wait(60_000);
  server.catalogue.refresh(CHANGED);
  expect(server.pauses).toEqual([0, 100, 200, 400, 500, 0]);
});

verifies('AGG-REG-2', 'readNow reads a list without a pause', async () => {
  const server = await announcing();
  for (let reading = 0; reading < 12; reading++) await server.readAfterNews(SAME);
  const [one, other] = [server.catalogue.readNow('tools'), server.catalogue.readNow('tools')];
  expect(server.asked).toHaveLength(1);
  await server.answer(SAME);
  expect(server.asked).toHaveLength(1);
  await server.answer(`{"tools":[{"name":"b",${SCHEMA}}]}`);
  await Promise.all([one, other]);
  expect(server.names).toEqual(['b']);
  expect(server.asked).toEqual([]);
});

verifies('AGG-REG-2', 'a list of a lost server is not read after the pause', async () => {
  const server = await announcing();
  server.isGone = true;
  server.pass();
  expect(server.asked).toEqual([]);
  expect(server.warnings).toEqual([]);
});

verifies(
  ['AGG-REG-2', 'ERA-5'],
  'a list in another order counts as unchanged and keeps its order',
  async () => {
    const server = new ByHand();
    const loaded = server.catalogue.loadAll(() => 1000);
    await server.answer(`{"tools":[{"name":"b",${SCHEMA}},{"name":"a",${SCHEMA}}]}`);
    await loaded;
    server.catalogue.refresh(CHANGED);
    server.pass();
    await server.answer(`{"tools":[{"name":"a",${SCHEMA}},{"name":"b",${SCHEMA}}]}`);
    expect([server.names, server.changes]).toEqual([['b', 'a'], []]);
    server.catalogue.refresh(CHANGED);
    server.pass();
    await server.answer(`{"tools":[{"name":"c",${SCHEMA}},{"name":"a",${SCHEMA}},{"name":"b",${SCHEMA}}]}`);
    expect([server.names, server.changes]).toEqual([['b', 'a', 'c'], ['tools']]);
  },
);

verifies('SAFE-1', 'a list is charged to its account until a new one replaces it', async () => {
  const server = new ByHand();
  const loading = server.catalogue.loadAll(() => 1000);
  const page = listAnswer('{"tools":[{"name":"a"}],"nextCursor":"2"}').bytes.length + 256;
  const last = listAnswer('{"tools":[{"name":"b"}]}').bytes.length + 256;
  await server.answer('{"tools":[{"name":"a"}],"nextCursor":"2"}');
  expect(server.account.listed).toBe(page);
  await server.answer('{"tools":[{"name":"b"}]}');
  await loading;
  expect(server.account.listed).toBe(page + last);
  const reading = server.catalogue.readNow('tools');
  await server.answer('{"tools":[{"name":"a"}],"nextCursor":"2"}');
  expect(server.account.listed).toBe(page + last);
  await server.answer('{"tools":[{"name":"b"}],"nextCursor":"3"}');
  await server.answer(REFUSED);
  await reading;
  expect(server.account.listed).toBe(page + last);
  const again = server.catalogue.readNow('tools');
  await server.answer('{"tools":[{"name":"b"}]}');
  await again;
  expect(server.account.listed).toBe(last);
});
