import Keyv from 'keyv';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { CachedToken } from './cached-token.ts';
import type { OAuthFactoryConfig } from './oauth-config.ts';
import { createServiceTokens, encodedAccount } from './token-store.ts';

const TOKEN = { accessToken: 'access' };

describe('the key of an account', () => {
  test.each([
    ['alice@example.test', 'alice@example.test'],
    ['a+b.c_d-e~f', 'a+b.c_d-e~f'],
    ['auth0|123', 'auth0%7C123'],
    ['a:b', 'a%3Ab'],
    ['a%3Ab', 'a%253Ab'],
    ['../x', '..%2Fx'],
    ["it's (me)*!", 'it%27s%20%28me%29%2A%21'],
    ['größe', 'gr%C3%B6%C3%9Fe'],
  ])('%s becomes %s', (account, encoded) => {
    expect(encodedAccount(account)).toBe(encoded);
    expect(decodeURIComponent(encoded)).toBe(account);
  });

  test.each(['', 'a\nb', 'a\u0000', '\u007f', '\ud800', 'a'.repeat(201)])('%j is refused', (account) => {
    expect(() => encodedAccount(account)).toThrow('account must be a text of 1 to 200 characters');
  });
});

describe('the tokens of a service', () => {
  test('services of one store do not see each other', async () => {
    const store = new Map<string, unknown>();
    const [mail, drive] = ['mail', 'drive'].map((service) => createServiceTokens(store, service));
    await mail?.save('me', TOKEN);
    expect(await mail?.accounts()).toEqual(['me']);
    expect(await drive?.accounts()).toEqual([]);
    expect(await drive?.read('me')).toBeUndefined();
  });

  test('accounts lists those with a record, whatever the index says', async () => {
    const store = new Map<string, unknown>([
      ['mail:', { accounts: ['gone', 7, 'me'] }],
      ['mail:me', TOKEN],
    ]);
    expect(await createServiceTokens(store, 'mail').accounts()).toEqual(['me']);
    for (const index of [undefined, null, 'x', [], { accounts: 'me' }]) {
      store.set('mail:', index);
      expect(await createServiceTokens(store, 'mail').accounts()).toEqual([]);
    }
  });

  test.each([undefined, null, 'token', {}, { accessToken: 7 }, { accessToken: '' }])(
    '%o is not a record',
    async (record) => {
      const store = new Map<string, unknown>([['mail:me', record]]);
      expect(await createServiceTokens(store, 'mail').read('me')).toBeUndefined();
    },
  );

  test('a record with a broken date counts as expired, other broken members are left out', async () => {
    const record = { accessToken: 'a', refreshToken: 7, expiresAt: 'soon', scope: [], more: 1 };
    const store = new Map<string, unknown>([['mail:me', record]]);
    expect(await createServiceTokens(store, 'mail').read('me')).toEqual({ accessToken: 'a', expiresAt: 0 });
  });

  verifies('KIT-OAUTH-1', 'a Keyv keeps the tokens, and its type fits', async () => {
    const keyv = new Keyv<CachedToken>();
    expectTypeOf<{ tokenStore: Keyv<CachedToken> }>().toExtend<Pick<OAuthFactoryConfig, 'tokenStore'>>();
    const tokens = createServiceTokens(keyv, 'mail');
    await tokens.save('me', TOKEN);
    expect(await keyv.get('mail:me')).toEqual(TOKEN);
    expect(await tokens.accounts()).toEqual(['me']);
    await tokens.remove('me');
    expect(await tokens.accounts()).toEqual([]);
  });

  test('a store that reports a failed write by false is an error', async () => {
    const store = { get: () => undefined, set: () => Promise.resolve(false), delete: () => true };
    await expect(createServiceTokens(store, 'mail').save('me', TOKEN)).rejects.toThrow(
      'mail:me could not be stored',
    );
  });

  test('actions of one account run one after another without a lock, those of others at once', async () => {
    const tokens = createServiceTokens(new Map(), 'mail');
    const events: string[] = [];
    const run = (account: string, name: string): Promise<void> =>
      tokens.exclusively(account, async () => {
        events.push(`${name} begins`);
        await Promise.resolve();
        events.push(`${name} ends`);
        if (name === 'a') throw new Error('a fails');
      });
    await Promise.allSettled([run('me', 'a'), run('me', 'b'), run('you', 'c')]);
    expect(events.indexOf('b begins')).toBeGreaterThan(events.indexOf('a ends'));
    expect(events.indexOf('c begins')).toBeLessThan(events.indexOf('a ends'));
  });

  test('an account that another process writes over in the index is added again', async () => {
    const values = new Map<string, unknown>();
    let overwrites = 2;
    const store = {
      get: (key: string) => values.get(key),
      delete: (key: string) => values.delete(key),
      set(key: string, value: unknown) {
        values.set(key, value);
        // The other process read the index before this write, and writes after it.
        if (key === 'mail:' && overwrites-- > 0) values.set(key, { accounts: ['other'] });
      },
    };
    await createServiceTokens(store, 'mail').save('me', TOKEN);
    expect(values.get('mail:')).toEqual({ accounts: ['me', 'other'] });
  });

  test('the lock of the store is used where there is one', async () => {
    const locked: string[] = [];
    const store = Object.assign(new Map<string, unknown>(), {
      lock: <Result>(key: string, action: () => Promise<Result>): Promise<Result> => {
        locked.push(key);
        return action();
      },
    });
    const tokens = createServiceTokens(store, 'mail');
    await tokens.exclusively('me', () => tokens.save('me', TOKEN));
    expect(locked).toEqual(['mail:me', 'mail:']);
  });
});
