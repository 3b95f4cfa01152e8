import { setTimeout as delay } from 'node:timers/promises';
import { type AccountSubject, asAccountSubject } from './account-subject.ts';
import { asCachedToken, type CachedToken } from './cached-token.ts';

/** Store of tokens: a Keyv, a `Map`, or a store of `@weir/server/store`. Methods may be asynchronous. */
export interface TokenStore {
  get(key: string): unknown;
  set(key: string, value: unknown): unknown;
  delete(key: string): unknown;
  /** Runs the action while no other process runs one under the same key. Without it, two processes may refresh one token at once. */
  lock?<Result>(key: string, action: () => Promise<Result>): Promise<Result>;
}

/** Tokens of one service. */
export interface ServiceTokens {
  key(account: string): string;
  read(account: string): Promise<CachedToken | undefined>;
  save(account: string, token: CachedToken): Promise<void>;
  /** Removes the token; the account stays bound to its user. */
  remove(account: string): Promise<void>;
  /** Returns the user whom the account belongs to; undefined for one that is not known, or was forgotten. */
  subject(account: string): Promise<AccountSubject | undefined>;
  bind(account: string, subject: AccountSubject): Promise<void>;
  forget(account: string): Promise<void>;
  /** Lists the accounts that have a record, sorted. */
  accounts(): Promise<string[]>;
  /** Runs the action while no other one of this account runs, in any process where the store has a lock. */
  exclusively<Result>(account: string, action: () => Promise<Result>): Promise<Result>;
}

export function createServiceTokens(store: TokenStore, service: string): ServiceTokens {
  const key = (account: string): string => `${service}:${encodedAccount(account)}`;
  // The colons of an account are encoded, so that no token has this key.
  const subjectKey = (account: string): string => `${key(account)}:subject`;
  const index = createAccountIndex(store, service);
  const write = async (at: string, value: unknown): Promise<void> => {
    // A Keyv answers false where its backend has failed.
    if ((await store.set(at, value)) === false)
      throw new Error(`${at} could not be stored: the token store reports a failure`);
  };
  const read = async (account: string): Promise<CachedToken | undefined> =>
    asCachedToken(await store.get(key(account)));
  return {
    key,
    read,
    async save(account, token) {
      await write(key(account), token);
      await index.change(account, true);
    },
    async remove(account) {
      await store.delete(key(account));
      await index.change(account, false);
    },
    subject: async (account) => asAccountSubject(await store.get(subjectKey(account))),
    bind: (account, subject) => write(subjectKey(account), subject),
    async forget(account) {
      await store.delete(subjectKey(account));
    },
    async accounts() {
      const listed = await index.list();
      const tokens = await Promise.all(listed.map(read));
      return listed.filter((_, place) => tokens[place] !== undefined);
    },
    exclusively: (account, action) => exclusively(store, key(account), action),
  };
}

/** Encodes an account for a key: a colon in one account cannot name the record of another. Emails stay readable. */
export function encodedAccount(account: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are refused
  if (!/^[^\u0000-\u001f\u007f]{1,200}$/.test(account) || !isWellFormed(account))
    throw new Error('account must be a text of 1 to 200 characters without control characters');
  return encodeURIComponent(account)
    .replaceAll('%40', '@')
    .replaceAll('%2B', '+')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function isWellFormed(text: string): boolean {
  return !/[\ud800-\udfff]/u.test(text);
}

interface AccountIndex {
  list(): Promise<string[]>;
  change(account: string, isPresent: boolean): Promise<void>;
}

/** Rewrites that a change survives from processes without a lock. */
const MOST_REWRITES = 5;

/** Keeps the names of the accounts in one record: a Keyv-shaped store need not list its keys. */
function createAccountIndex(store: TokenStore, service: string): AccountIndex {
  // No account has an empty name, so that no token has this key.
  const key = `${service}:`;
  const list = async (): Promise<string[]> => accountsIn(await store.get(key));
  const rewrite = async (account: string, isPresent: boolean): Promise<void> => {
    for (let round = 0; round < MOST_REWRITES; round += 1) {
      const others = await list();
      if (others.includes(account) === isPresent) return;
      const accounts = others.filter((other) => other !== account);
      await store.set(key, { accounts: isPresent ? [...accounts, account].sort() : accounts });
      // Without a lock, another process may have written over this meanwhile: the next round looks.
      if (store.lock === undefined) await delay(Math.random() * 10);
    }
  };
  return { list, change: (account, isPresent) => exclusively(store, key, () => rewrite(account, isPresent)) };
}

function accountsIn(record: unknown): string[] {
  if (typeof record !== 'object' || record === null || !('accounts' in record)) return [];
  const { accounts } = record;
  return Array.isArray(accounts) ? accounts.filter((each) => typeof each === 'string').sort() : [];
}

async function exclusively<Result>(
  store: TokenStore,
  key: string,
  action: () => Promise<Result>,
): Promise<Result> {
  return store.lock === undefined ? await inTurn(store, key, action) : await store.lock(key, action);
}

// Keyed by the caller's store: a server may make adapters per request, and those share one record.
const queues = new WeakMap<TokenStore, Map<string, Promise<unknown>>>();

/** Runs the actions under one key of one store one after another within this process. */
async function inTurn<Result>(
  store: TokenStore,
  key: string,
  action: () => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(store) ?? new Map<string, Promise<unknown>>();
  queues.set(store, queue);
  const turn = (queue.get(key) ?? Promise.resolve()).then(action, action);
  queue.set(key, turn);
  try {
    return await turn;
  } finally {
    if (queue.get(key) === turn) queue.delete(key);
  }
}
