import { OAuthRequestError } from './oauth-errors.ts';
import type { DeviceAuthorization, SignInGrant } from './oidc-client.ts';
import type { LoginContext, PendingLogin } from './pending-login.ts';
import { reasonOf, sleep } from './waiting.ts';

/** Milliseconds that an issuer which is asked too often, or cannot be reached, adds to the interval (RFC 8628, 3.5). */
const SLOW_DOWN_MS = 5000;

/** Bounds for an interval of the issuer: between flooding it and a user who waits in vain. */
const INTERVAL_MS = { least: 1000, most: 60_000 };

/** Begins a device flow (RFC 8628); undefined where the issuer has none. */
export async function beginDeviceLogin<Result>(
  context: LoginContext<Result>,
  account: string | undefined,
): Promise<PendingLogin<Result> | undefined> {
  const device = await context.client.authorizeDevice();
  if (device === undefined) return undefined;
  const cancelled = new AbortController();
  const expiresAt = context.now() + device.lastsMs;
  const finished = poll(context, device, expiresAt, cancelled.signal).then((grant) =>
    context.save(grant, account),
  );
  // The failure of a sign-in that only began is logged by the adapter.
  finished.catch(() => {});
  return {
    prompt: {
      message: `Sign in to ${context.service} with the code ${printable(device.userCode)} and try again.`,
      authUrl: device.url,
      userCode: printable(device.userCode),
      expiresAt,
    },
    finished,
    cancel: (reason) => cancelled.abort(reason),
  };
}

async function poll(
  { client, now }: LoginContext<unknown>,
  device: DeviceAuthorization,
  expiresAt: number,
  signal: AbortSignal,
): Promise<SignInGrant> {
  let intervalMs = device.intervalMs;
  for (;;) {
    intervalMs = Math.min(Math.max(intervalMs, INTERVAL_MS.least), INTERVAL_MS.most);
    await sleep(intervalMs, signal);
    if (now() >= expiresAt)
      throw new OAuthRequestError('The code of the device sign-in has expired', { error: 'expired_token' });
    const answer = await client.redeemDevice(device.deviceCode).catch(patienceFor);
    if (typeof answer === 'object') {
      if (signal.aborted) throw reasonOf(signal);
      return answer;
    }
    intervalMs += answer;
  }
}

/** Returns the milliseconds to add to the interval after an error that means to go on; throws any other. */
function patienceFor(error: unknown): number {
  if (!(error instanceof OAuthRequestError)) throw error;
  if (error.error === 'authorization_pending') return 0;
  if (error.error === 'slow_down' || error.retryable) return SLOW_DOWN_MS;
  throw error;
}

/** Removes characters that could steer a terminal. */
function printable(code: string): string {
  return code.replace(/[^\x20-\x7e]/g, '').slice(0, 40);
}
