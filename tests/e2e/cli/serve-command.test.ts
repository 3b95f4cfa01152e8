// `weir serve` as a user starts it.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixture, runWeir, scripted, temporaryFolder, textOf } from '../../support/harness.ts';
import {
  connectHttp,
  eventually,
  modern,
  send,
  startServe,
  type Answer,
  type ServeProcess,
} from '../../support/http.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const servers = { echo: fixture('echo') };

/** Says that it is asked, and answers after so many milliseconds. */
const slow = scripted(`
  import { serve, text, tool } from 'stdio';
  serve({ name: 'slow', tools: [tool('slow')], call: {
    slow: ({ ms }) => new Promise((resolve) => {
      console.error('asked');
      setTimeout(() => resolve(text('at last')), ms);
    }),
  } });
`);

function health({ url }: ServeProcess, path: string): Promise<Answer> {
  return send(url.replace('/mcp', path), { method: 'GET', headers: { Authorization: undefined } });
}

function isAsked(weir: ServeProcess): Promise<unknown> {
  return until(() => weir.stderr.includes('asked'), 20_000);
}

describe('weir serve', () => {
  verifies(
    'SAFE-1',
    'weir serve listens on this machine only and prints its address and a stable token',
    async () => {
      const folder = temporaryFolder();
      await using weir = await startServe(servers, { folder });
      expect(weir.stdout).toMatch(
        /^weir starts 1 server, served at http:\/\/127\.0\.0\.1:\d+\/mcp {2}token=[\w-]{43}\n/u,
      );
      const [secret = ''] = readdirSync(join(folder, 'state', 'secrets'));
      const file = join(folder, 'state', 'secrets', secret);
      expect(readFileSync(file, 'latin1')).not.toContain(weir.token);
      if (process.platform !== 'win32') expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
      await using sdk = await connectHttp(weir.url, 'modern', { token: weir.token });
      expect((await sdk.client.listTools()).tools.length).toBeGreaterThan(0);
      await using other = await startServe(servers, { folder });
      expect(other.token).toBe(weir.token);
      expect(other.url).not.toBe(weir.url);
    },
  );

  verifies('SAFE-1', 'concurrent first starts of weir serve agree on one token', async () => {
    const folder = temporaryFolder();
    const starts = await Promise.all(Array.from({ length: 4 }, () => startServe(servers, { folder })));
    expect(new Set(starts.map(({ token }) => token)).size).toBe(1);
    await Promise.all(starts.map((weir) => weir[Symbol.asyncDispose]()));
  });

  verifies(
    'SAFE-1',
    'weir serve runs without a token only with --no-auth, and only on this machine',
    async () => {
      await using weir = await startServe(servers, { args: ['--no-auth'] });
      expect(weir.stdout).toMatch(/ at http:\/\/127\.0\.0\.1:\d+\/mcp {2}no token needed \(--no-auth\)\n/u);
      const call = modern('tools/list');
      expect(
        (await send(weir.url, { ...call, headers: { ...call.headers, Authorization: undefined } })).status,
      ).toBe(200);
      const args = ['serve', '--demo', '--no-auth', '--host', '0.0.0.0'];
      const { code, stderr, stdout } = await runWeir(args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('--no-auth works on this machine only: with --host 0.0.0.0 others could call');
    },
  );

  verifies('SAFE-1', 'weir serve on all addresses requires the token and an allowed Host', async () => {
    const args = ['--host', '0.0.0.0', '--allowed-host', 'tools.lan'];
    await using weir = await startServe(servers, { args });
    const at = async (Host: string, token = weir.token): Promise<number> => {
      const call = modern('tools/list');
      const headers = { ...call.headers, Authorization: `Bearer ${token}`, Host };
      return (await send(`http://127.0.0.1:${port}/mcp`, { ...call, headers })).status;
    };
    const { port } = new URL(weir.url);
    expect(await at(`127.0.0.1:${port}`)).toBe(200);
    expect(await at('tools.lan')).toBe(200);
    expect(await at(`tools.lan:${port}`)).toBe(403);
    expect(await at(`evil.example:${port}`)).toBe(403);
    expect(await at(`127.0.0.1:${port}`, 'another')).toBe(401);
  });

  verifies(
    'SAFE-1',
    'weir serve on all addresses prints one that works, and warns of the network once',
    async () => {
      await using weir = await startServe(servers, { args: ['--host', '0.0.0.0'] });
      await eventually(
        async () => weir.stdout.includes('\nListening on all addresses of this machine.') || undefined,
      );
      expect(weir.url).not.toContain('0.0.0.0');
      const local127 = weir.url.replace(/\/\/[^/]+:/u, '//127.0.0.1:');
      await using sdk = await connectHttp(local127, 'modern', { token: weir.token });
      expect((await sdk.client.listTools()).tools.length).toBeGreaterThan(0);
      expect(weir.stderr.match(/The token and all messages cross the network unencrypted/gu)).toHaveLength(1);
      await using local = await startServe(servers);
      expect(local.stderr).not.toContain('unencrypted');
    },
  );

  verifies(
    'AGG-CHILD-3',
    'weir serve runs with the servers that start, and is ready when all were tried',
    async () => {
      const config = { ...servers, broken: fixture('exit-at-start'), slow: fixture('slow-start', '2500') };
      await using weir = await startServe(config);
      expect((await health(weir, '/healthz')).status).toBe(200);
      await eventually(async () => (await health(weir, '/readyz')).status === 200 || undefined);
      await using sdk = await connectHttp(weir.url, 'legacy', { token: weir.token });
      const { tools } = await sdk.client.listTools();
      for (const name of ['echo__echo', 'slow__echo']) expect(tools.map((tool) => tool.name)).toContain(name);
      expect(weir.stderr).toContain("'broken'");
    },
  );

  test('wrong usage of weir serve prints its usage', async () => {
    const { code, stderr } = await runWeir(['serve', '--demo', '--bogus']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^Unknown option: --bogus\n\nUsage: weir serve .*\nTry 'weir serve --help'\.\n$/u);
  });

  test('weir serve names a port that is in use, with what to do', async () => {
    await using weir = await startServe(servers);
    const { port } = new URL(weir.url);
    const { code, stderr } = await runWeir(['serve', '--demo', '--port', port]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use. Choose another with --port; 0 picks a free one.\n`,
    );
  });

  test('weir serve warns that its token is temporary where the state folder cannot be used', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'state'), 'a file');
    await using weir = await startServe(servers, { folder });
    expect(weir.token).toHaveLength(43);
    expect(weir.stderr).toContain('The token is for this run only');
    expect(weir.stderr).not.toContain(weir.token);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    verifies('ERA-1', `weir serve waits for calls in flight on ${signal}, then exits with 0`, async () => {
      await using weir = await startServe({ slow });
      const call = modern('tools/call', { name: 'slow__slow', arguments: { ms: 600 } });
      const headers = { ...call.headers, Authorization: `Bearer ${weir.token}` };
      await eventually(async () => (await health(weir, '/readyz')).status === 200 || undefined);
      const answered = send(weir.url, { ...call, headers });
      await isAsked(weir);
      weir.kill(signal);
      expect(textOf((await answered).json)).toBe('at last');
      expect(await weir.ended).toEqual({ code: 0, signal: null });
      expect(weir.stdout).toMatch(
        /^Waiting up to 5 s for 1 running call\. Press Ctrl-C again to stop at once\.$/mu,
      );
      await expect(health(weir, '/healthz')).rejects.toThrow('ECONNREFUSED');
    });
  }

  test('a second SIGINT ends weir serve at once', async () => {
    await using weir = await startServe({ slow });
    await eventually(async () => (await health(weir, '/readyz')).status === 200 || undefined);
    const call = modern('tools/call', { name: 'slow__slow', arguments: { ms: 60_000 } });
    const lost = send(weir.url, {
      ...call,
      headers: { ...call.headers, Authorization: `Bearer ${weir.token}` },
    });
    const failed = lost.then(
      () => 'answered',
      () => 'lost',
    );
    await isAsked(weir);
    weir.kill('SIGINT');
    await until(() => weir.stdout.includes('Waiting up to 5 s'), 20_000);
    const started = performance.now();
    weir.kill('SIGINT');
    await weir.ended;
    expect(await failed).toBe('lost');
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
