import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { NO_LISTS, type Listed } from '../upstream/catalogue/catalogue.ts';
import { readItem } from '../upstream/catalogue/read-list.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { Accounts, type Account } from '../wire/account.ts';
import { RegistryBuilder } from './registry-builder.ts';

/** A server that lists tools of these names. */
function server(account: Account, ...names: string[]): Upstream {
  const items = names.map((name) => readItem(Buffer.from(JSON.stringify({ name })), 'name') as Listed);
  const tools = { items, ttlMs: 0, cacheScope: 'private' } as const;
  return {
    serverKey: 'a',
    capabilities: { tools: {} },
    catalogue: { ...NO_LISTS, tools },
    peer: { account },
  } as unknown as Upstream;
}

verifies('SAFE-4', 'H6: the past names of a server are charged to the account of its lists', () => {
  const accounts = new Accounts(0);
  const account = accounts.open(() => {});
  const builder = new RegistryBuilder(
    { separator: ':', noPrefix: false, order: ['a'] },
    { collided() {}, passedOn() {}, covering() {}, unmatched() {}, taken() {} },
  );
  builder.build([server(account, 'one', 'two')]);
  expect(account.listed).toBe(0);
  builder.build([server(account, 'two')]);
  const one = account.listed;
  expect(one).toBeGreaterThan(0);
  builder.build([server(account, 'three')]);
  expect(account.listed).toBe(2 * one);
  // The server was started again: its new account pays for them.
  const next = accounts.open(() => {});
  builder.build([server(next, 'three', 'two')]);
  expect(next.listed).toBe(one);
});
