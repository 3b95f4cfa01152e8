import { describe, expect, test, vi } from 'vitest';
import { createGuardedFetch } from './guarded-fetch.ts';

function guarded(mayUseHttp: boolean, response = () => new Response('ok')) {
  const send = vi.fn<typeof fetch>(() => Promise.resolve(response()));
  return { send, request: createGuardedFetch(send, mayUseHttp) };
}

describe('the requests to the issuer', () => {
  test.each([
    'http://evil.example/token',
    'http://127.0.0.1.evil.example/token',
    'http://169.254.169.254/token',
    'https://user:password@issuer.example/token',
    'http://user@127.0.0.1/token',
    'file:///etc/passwd',
    'data:,x',
  ])('%s is not asked', async (url) => {
    const { send, request } = guarded(true);
    await expect(request(url, {})).rejects.toThrow('is not https, or contains a user');
    expect(send).not.toHaveBeenCalled();
  });

  test.each([
    ['https://issuer.example/token', false],
    ['http://127.0.0.1:8080/token', true],
    ['http://[::1]:8080/token', true],
    ['http://localhost:8080/token', true],
  ])('%s is asked', async (url, mayUseHttp) => {
    const { send, request } = guarded(mayUseHttp);
    expect(await (await request(url, {})).text()).toBe('ok');
    expect(send).toHaveBeenCalledTimes(1);
  });

  test('http on loopback is not asked for an issuer with https', async () => {
    const { send, request } = guarded(false);
    await expect(request('http://127.0.0.1/token', {})).rejects.toThrow('is not https');
    expect(send).not.toHaveBeenCalled();
  });

  test.each([301, 302, 303, 307, 308])('a redirect with status %d is not followed', async (status) => {
    const location = 'https://evil.example/';
    const { send, request } = guarded(false, () => new Response(null, { status, headers: { location } }));
    const call = request('https://issuer.example/token', { redirect: 'follow' });
    await expect(call).rejects.toThrow(/^issuer\.example redirects an OAuth request/);
    expect(send.mock.calls.map(([, init]) => init?.redirect)).toEqual(['manual']);
  });

  test('an error of the network is named by its code alone', async () => {
    const cause = Object.assign(new Error('connect 10.0.0.1:443 secret'), { code: 'ECONNRESET' });
    const request = createGuardedFetch(() => Promise.reject(new TypeError('fetch failed', { cause })), false);
    await expect(request('https://issuer.example/token', {})).rejects.toMatchObject({
      message: 'issuer.example cannot be reached: ECONNRESET. Try again later',
      retryable: true,
    });
  });
});
