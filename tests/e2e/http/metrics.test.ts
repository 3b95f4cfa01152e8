// The page that Prometheus reads: counters per server, behind the token, with labels that only the config makes.
import { describe, expect, test } from 'vitest';
import { fixture } from '../../support/harness.ts';
import { eventually, openSession, send, serveTest, startServe, type HttpTest } from '../../support/http.ts';

async function metricsOf({ url }: HttpTest): Promise<string> {
  const { status, text } = await send(url.replace('/mcp', '/metrics'), { method: 'GET' });
  expect(status).toBe(200);
  return text;
}

describe.concurrent('/metrics', () => {
  test('/metrics counts calls, durations, restarts and states per server', async () => {
    await using http = await serveTest({ e: fixture('echo'), c: fixture('crash') });
    const session = await openSession(http.url);
    await session.post(session.call('e:echo', { text: 'a' }));
    await session.post(session.call('e:echo', { text: 'b' }));
    await session.post(session.call('c:crash'));
    const text = await metricsOf(http);
    for (const line of [
      'weir_calls_total{server="e",outcome="success"} 2',
      'weir_calls_total{server="c",outcome="error"} 1',
      'weir_call_duration_seconds_bucket{server="e",le="+Inf"} 2',
      'weir_call_duration_seconds_count{server="e"} 2',
      'weir_requests_in_flight{server="e"} 0',
      'weir_server_restarts_total{server="e"} 0',
      'weir_server_state{server="e",state="connected"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    await eventually(async () => {
      const isBack = (await metricsOf(http)).includes('weir_server_restarts_total{server="c"} 1');
      return isBack || undefined;
    });
  });

  test('names that clients call add no labels to /metrics', async () => {
    await using http = await serveTest({ e: fixture('echo') });
    const session = await openSession(http.url);
    const before = await metricsOf(http);
    for (const name of ['x:y', 'e:nothing', '"}\n']) await session.post(session.call(name));
    const after = await metricsOf(http);
    const labels = (text: string): string[] => text.split('\n').map((line) => line.replace(/ \S+$/u, ''));
    expect(labels(after)).toEqual(labels(before));
  });

  test('/metrics escapes the key of a server', async () => {
    await using http = await serveTest({ 'a"b\\c': fixture('echo') });
    expect(await metricsOf(http)).toContain('weir_requests_in_flight{server="a\\"b\\\\c"} 0');
  });

  test('/metrics requires the token unless --metrics-public is set', async () => {
    await using closed = await startServe({ e: fixture('echo') });
    const url = (of: string): string => of.replace('/mcp', '/metrics');
    const headers = { authorization: `Bearer ${closed.token}` };
    expect((await send(url(closed.url), { method: 'GET' })).status).toBe(401);
    expect((await send(url(closed.url), { method: 'GET', headers })).status).toBe(200);
    await using open = await startServe({ e: fixture('echo') }, { args: ['--metrics-public'] });
    expect((await send(url(open.url), { method: 'GET' })).status).toBe(200);
    expect((await send(url(open.url), { method: 'POST', body: '{}' })).status).toBe(405);
  });
});
