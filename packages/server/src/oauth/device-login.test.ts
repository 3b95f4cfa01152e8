import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { beginDeviceLogin } from './device-login.ts';
import { OAuthRequestError } from './oauth-errors.ts';
import type { SignInGrant, OidcClient } from './oidc-client.ts';

type Answer = SignInGrant | OAuthRequestError;

const GRANT: SignInGrant = { token: { accessToken: 'access' }, account: 'me' };
const PENDING = new OAuthRequestError('pending', { error: 'authorization_pending' });
const SLOW_DOWN = new OAuthRequestError('slow down', { error: 'slow_down' });
const DOWN = new OAuthRequestError('down', { retryable: true });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Begins a device flow whose polls get these answers, the last one again and again. */
async function begin(answers: readonly Answer[], intervalMs = 5000) {
  const startedAt = Date.now();
  const polledAt: number[] = [];
  const client: Pick<OidcClient, 'authorizeDevice' | 'redeemDevice'> = {
    authorizeDevice: () =>
      Promise.resolve({
        deviceCode: 'device',
        userCode: 'ABCD',
        url: 'https://issuer.example/device',
        intervalMs,
        lastsMs: 60_000,
      }),
    redeemDevice() {
      const answer = answers[Math.min(polledAt.length, answers.length - 1)] ?? PENDING;
      polledAt.push((Date.now() - startedAt) / 1000);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const save = vi.fn((grant: SignInGrant, account: string | undefined) =>
    Promise.resolve(account ?? grant.account),
  );
  const context = { client: client as OidcClient, service: 'mail', now: () => Date.now(), save };
  const login = await beginDeviceLogin(context, undefined);
  if (login === undefined) throw new Error('The issuer has a device flow');
  return { login, polledAt, save, startedAt };
}

verifies('KIT-OAUTH-1', 'polls are 5 s apart, and 5 s further apart after each slow_down', async () => {
  const { login, polledAt } = await begin([PENDING, SLOW_DOWN, PENDING, SLOW_DOWN, GRANT]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(polledAt).toEqual([5, 10, 20, 30, 45]);
  expect(await login.finished).toBe('me');
});

verifies(
  'KIT-OAUTH-1',
  'the interval of the issuer counts, and an issuer that is down is asked later',
  async () => {
    const { login, polledAt } = await begin([DOWN, GRANT], 2000);
    await vi.advanceTimersByTimeAsync(9000);
    expect(polledAt).toEqual([2, 9]);
    expect(await login.finished).toBe('me');
  },
);

verifies('KIT-OAUTH-1', 'a device flow ends when its code expires', async () => {
  const { login, polledAt, startedAt } = await begin([PENDING]);
  expect(login.prompt.expiresAt).toBe(startedAt + 60_000);
  await vi.advanceTimersByTimeAsync(120_000);
  await expect(login.finished).rejects.toThrow('The code of the device sign-in has expired');
  expect(polledAt.at(-1)).toBe(55);
});

verifies('KIT-OAUTH-1', 'a device flow ends when the user refuses', async () => {
  const { login, polledAt, save } = await begin([
    PENDING,
    new OAuthRequestError('no', { error: 'access_denied' }),
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  await expect(login.finished).rejects.toThrow('no');
  expect(polledAt).toEqual([5, 10]);
  expect(save).not.toHaveBeenCalled();
});

verifies('KIT-OAUTH-1', 'a device flow that is cancelled polls no more', async () => {
  const { login, polledAt } = await begin([PENDING]);
  await vi.advanceTimersByTimeAsync(7000);
  login.cancel(new Error('not now'));
  await expect(login.finished).rejects.toThrow('not now');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(polledAt).toEqual([5]);
});

verifies('KIT-OAUTH-1', 'an interval of the issuer below 1 s or above 60 s is not used', async () => {
  const fast = await begin([PENDING, GRANT], 0);
  await vi.advanceTimersByTimeAsync(2000);
  expect(fast.polledAt).toEqual([1, 2]);
  const slow = await begin([GRANT], 2 ** 40);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(slow.polledAt).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await expect(slow.login.finished).rejects.toThrow('expired');
});
