import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { listenForCallback } from './callback-listener.ts';
import { SIGNED_IN } from './callback-page.ts';

test('a connection that a browser opens ahead does not keep the process alive', async () => {
  const listener = await listenForCallback('/callback', () => undefined);
  const alive = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const before = alive();
  const socket = connect(Number(new URL(listener.redirectUri).port), '127.0.0.1')
    .unref()
    .resume();
  await once(socket, 'connect');
  // A response tells that the listener has accepted the connection before it.
  expect((await fetch(listener.redirectUri, { headers: { connection: 'close' } })).status).toBe(404);
  await vi.waitFor(() => expect(alive()).toBeLessThanOrEqual(before));
  listener.close();
  await once(socket, 'close');
});

test.each([
  ['GET', '/callback', 404],
  ['GET', '/callback/?state=x', 404],
  ['GET', '/Callback?state=x', 404],
  ['GET', '//callback?state=x', 404],
  ['GET', '/callback?state=x?y', 404],
  ['HEAD', '/callback?state=x', 404],
  ['POST', '/callback?state=x', 404],
  ['GET', '/callback?state=x', 200],
])('%s %s is answered with status %d', async (method, path, status) => {
  const answerCallback = vi.fn(() => Promise.resolve(SIGNED_IN));
  const { redirectUri, close } = await listenForCallback('/callback', answerCallback);
  const response = await fetch(`${new URL(redirectUri).origin}${path}`, { method });
  expect(response.status).toBe(status);
  expect(answerCallback).toHaveBeenCalledTimes(status === 200 ? 1 : 0);
  close();
});

test('a callback that names another host is refused, and the listener goes on waiting', async () => {
  const answerCallback = vi.fn(() => Promise.resolve(SIGNED_IN));
  const { redirectUri, close } = await listenForCallback('/callback', answerCallback);
  const { port } = new URL(redirectUri);
  const statusAs = async (host: string): Promise<number | undefined> => {
    const sent = request(`${redirectUri}?state=x`, { headers: { host } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  const others = [
    `evil.example:${port}`,
    'evil.example',
    '127.0.0.1',
    '127.0.0.1:1',
    `127.0.0.1.evil.example:${port}`,
  ];
  for (const host of others) expect(await statusAs(host)).toBe(403);
  expect(answerCallback).not.toHaveBeenCalled();
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) expect(await statusAs(host)).toBe(200);
  close();
});
