// The page that Prometheus reads: counters per server, behind the token, with labels that only the config makes.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { findCommand } from '../../../scripts/debian-packages.mjs';
import { fixture } from '../../support/harness.ts';
import {
  eventually,
  modern,
  openSession,
  rpc,
  send,
  serveTest,
  startServe,
  type HttpTest,
} from '../../support/http.ts';

const promtool = findCommand('promtool', ['prometheus'])?.path;

async function metricsOf({ url }: HttpTest): Promise<string> {
  const { status, text } = await send(url.replace('/mcp', '/metrics'), { method: 'GET' });
  expect(status).toBe(200);
  return text;
}

/** The names and labels of all series. */
const labelsOf = (text: string): string[] => text.split('\n').map((line) => line.replace(/ \S+$/u, ''));

/** Returns the verdict of Prometheus' own tool on a page. */
function judged(text: string): { status: number | null; findings: string } {
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  return { status, findings: stdout + stderr };
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

  test('nothing that clients send adds labels to /metrics', async () => {
    await using http = await serveTest(
      { e: fixture('echo') },
      { config: { groups: { dev: ['e'] } }, separator: '__' },
    );
    const session = await openSession(http.url);
    await session.post(session.call('e:echo'));
    const before = labelsOf(await metricsOf(http));
    const odd = '"}\n# TYPE x counter\nx{y="';
    for (const name of [
      'x:y',
      'e:nothing',
      'e__echo',
      'echo',
      'e:e:echo',
      'E__echo',
      'weir:status',
      odd,
      `e:${odd}`,
    ]) {
      await session.post(
        session.call(name, { [odd]: odd }, { id: odd, meta: { [odd]: odd, progressToken: odd } }),
      );
      // A name with a line end fits no header.
      if (!name.includes('\n')) await send(http.url, modern('tools/call', { name, arguments: {} }));
    }
    for (const method of ['tools/call', 'x/y', odd])
      await session.post(rpc(method, { name: odd, uri: odd }, odd));
    for (const path of ['dev', 'nope', encodeURIComponent(odd)])
      await send(`${http.url}/${path}`, { ...modern('tools/list'), method: 'POST' });
    const clientInfo = { name: odd, version: odd };
    const opening = { protocolVersion: odd, capabilities: { [odd]: {} }, clientInfo };
    await send(http.url, {
      headers: { 'X-Forwarded-For': 'x', 'User-Agent': 'y' },
      body: rpc('initialize', opening, odd),
    });
    expect(labelsOf(await metricsOf(http))).toEqual(before);
  });

  test('/metrics escapes the key of a server', async () => {
    await using http = await serveTest({ 'a"b\\c': fixture('echo') });
    expect(await metricsOf(http)).toContain('weir_requests_in_flight{server="a\\"b\\\\c"} 0');
  });

  // Servers crash, fail, hang and have every key that a config can give them.
  test.skipIf(promtool === undefined)('/metrics satisfies promtool of Prometheus', async () => {
    const keys = ['a"b\\c', 'ü 漢 {x="y"} 1', '# TYPE e counter', "it's", 'e,outcome="z"'];
    const odd = Object.fromEntries(keys.map((key) => [key, fixture('echo')]));
    await using http = await serveTest({
      ...odd,
      c: fixture('crash'),
      hangs: { ...fixture('stall'), timeout: 50 },
      broken: { command: 'no-such-command-at-all' },
    });
    const session = await openSession(http.url);
    for (const key of keys) await session.post(session.call(`${key}:echo`, { text: 'a' }));
    await session.post(session.call(`${keys[0]}:fail`));
    await session.post(session.call('hangs:stall'));
    await session.post(session.call('c:crash'));
    await eventually(
      async () => (await metricsOf(http)).includes('_restarts_total{server="c"} 1') || undefined,
    );
    const text = await metricsOf(http);
    for (const line of [
      'weir_calls_total{server="a\\"b\\\\c",outcome="error"} 1',
      'weir_calls_total{server="hangs",outcome="timeout"} 1',
      'weir_server_state{server="broken",state="error"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    expect(judged(text)).toEqual({ status: 0, findings: '' });
    // Shows that promtool judges: it finds a counter without its suffix, and a label that is not escaped.
    expect(judged(text.replaceAll('weir_calls_total', 'weir_calls')).findings).toContain('_total');
    expect(judged(text.replaceAll('\\"', '"')).status).toBe(1);
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
