// A config that leads back to its own gateway, directly or through others: that entry is skipped, the rest works.
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import {
  bin,
  fixture,
  runWeir,
  startWeir,
  temporaryFolder,
  textOf,
  type ServerEntry,
} from '../../support/harness.ts';
import { connectHttp, modern, send, serveTest, startServe, type ServeProcess } from '../../support/http.ts';
import { commandLinesWith } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const SKIPPED = /Server '(\S+)' is skipped: its entry leads back to this gateway/gu;

/** A gateway as an entry of a config. */
function gatewayOver(file: string, ...more: string[]): ServerEntry {
  return { command: process.execPath, args: [bin('weir'), '--config', file, '--separator', ':', ...more] };
}

/** Writes a config file and returns its path. */
function configFile(folder: string, name: string, servers: Record<string, ServerEntry>): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return file;
}

/** Counts the gateways over configs in this folder, once another would have been started. */
async function gatewaysIn(folder: string): Promise<number> {
  await delay(300);
  return commandLinesWith(folder).filter((line) => line.includes('.cjs')).length;
}

describe.concurrent('a config that contains the gateway itself', () => {
  const ways: Record<string, (folder: string) => ServerEntry> = {
    'by its path': (folder) => gatewayOver(join(folder, 'mcp.json')),
    'by a relative path': (folder) => ({ ...gatewayOver('./mcp.json'), cwd: folder }),
    'by a symbolic link': (folder) => {
      symlinkSync(join(folder, 'mcp.json'), join(folder, 'link.json'));
      return gatewayOver(join(folder, 'link.json'));
    },
    'by its other name': (folder) => ({
      command: process.execPath,
      args: [bin('mcp-simple-aggregator'), '--config', join(folder, 'mcp.json')],
    }),
    'through a shell that hides it': (folder) => ({
      command: 'sh',
      args: ['-c', `cd / && "${process.execPath}" "${bin('weir')}" --config "$0"`, join(folder, 'mcp.json')],
    }),
  };
  for (const [way, entry] of Object.entries(ways))
    verifies(
      'AGG-CFG-4',
      `the gateway skips an entry that is the gateway itself ${way}, with one warning`,
      async () => {
        const folder = temporaryFolder();
        await using weir = startWeir({ self: entry(folder), e: fixture('echo') }, { folder });
        expect((await weir.tools()).filter((name) => !name.startsWith('e:'))).toEqual([]);
        expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
        expect(await gatewaysIn(folder)).toBe(1);
        const { code, stderr } = await weir.close();
        expect(code).toBe(0);
        expect([...stderr.matchAll(SKIPPED)].map(([, key]) => key)).toEqual(['self']);
        expect(stderr).toContain('Remove the entry from the config');
      },
    );
});

describe.concurrent('a chain of gateways', () => {
  verifies('AGG-CFG-4', 'a chain of gateways works where each has a config of its own', async () => {
    const folder = temporaryFolder();
    const last = configFile(folder, 'c.json', { e: fixture('echo') });
    const second = configFile(folder, 'b.json', { c: gatewayOver(last) });
    await using weir = startWeir({ b: gatewayOver(second), e: fixture('echo') }, { folder });
    expect(await weir.tools()).toEqual(expect.arrayContaining(['b:c:e:echo', 'e:echo']));
    expect(textOf(await weir.callTool('b:c:e:echo', { text: 'deep' }))).toBe('deep');
    expect(weir.stderr).not.toContain('is skipped');
  });

  verifies('AGG-CFG-4', 'a chain of gateways is cut where one leads back to an earlier one', async () => {
    const folder = temporaryFolder();
    const other = configFile(folder, 'b.json', {
      a: gatewayOver(join(folder, 'mcp.json')),
      e: fixture('echo'),
    });
    await using weir = startWeir({ b: gatewayOver(other), e: fixture('echo') }, { folder });
    const names = await weir.tools();
    expect(names.filter((name) => name.endsWith(':echo'))).toEqual(['b:e:echo', 'e:echo']);
    expect(await gatewaysIn(folder)).toBe(2);
    await weir.says("Server 'a' is skipped: its entry leads back to a gateway in front of this one");
  });

  verifies('AGG-CFG-4', 'a chain has eight gateways at most', async () => {
    const folder = temporaryFolder();
    // Each waits for all that stand behind it.
    const patient = (file: string): ServerEntry => ({
      ...gatewayOver(file, '--fail-fast'),
      startupTimeout: 60_000,
    });
    for (let depth = 9; depth > 1; depth--) {
      const next = patient(join(folder, `${depth + 1}.json`));
      configFile(folder, `${depth}.json`, { e: fixture('echo'), ...(depth < 9 && { next }) });
    }
    const next = patient(join(folder, '2.json'));
    await using weir = startWeir({ next, e: fixture('echo') }, { folder });
    const names = (await weir.tools()).filter((name) => name.endsWith('e:echo'));
    expect(names.toSorted((one, other) => one.length - other.length)).toEqual(
      Array.from({ length: 8 }, (_, depth) => `${'next:'.repeat(depth)}e:echo`),
    );
    expect(await gatewaysIn(folder)).toBe(8);
    expect(weir.stderr).toContain("Server 'next' is skipped: it is a gateway, and the chain of gateways");
  });
});

describe.concurrent('other ways into a loop', () => {
  verifies('AGG-CFG-4', 'weir lock omits the entry that is the gateway itself', async () => {
    const folder = temporaryFolder();
    const file = configFile(folder, 'mcp.json', {
      self: gatewayOver(join(folder, 'mcp.json')),
      e: fixture('echo'),
    });
    const { code, stdout, stderr } = await runWeir(['lock', '--config', file], { folder });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain('Wrote 1 server to ');
    expect(stderr).toMatch(SKIPPED);
  });

  verifies.slow(
    ['AGG-CFG-4', 'HEALTH-3'],
    'a reload skips the entry that is the gateway itself, and restarts no other server',
    async () => {
      const folder = temporaryFolder();
      await using weir = startWeir({ e: fixture('echo'), p: fixture('ignores-sigterm') }, { folder });
      await weir.tools();
      const pid = textOf(await weir.callTool('p:pid'));
      const self = gatewayOver(join(folder, 'mcp.json'));
      configFile(folder, 'mcp.json', { e: fixture('echo'), p: fixture('ignores-sigterm'), self });
      await weir.says(SKIPPED);
      expect(textOf(await weir.callTool('p:pid'))).toBe(pid);
      expect(await gatewaysIn(folder)).toBe(1);
    },
  );

  verifies(
    'AGG-CFG-4',
    'the gateway ignores a forged WEIR_CHAIN, and a full one refuses only its own client',
    async () => {
      const odd = 'zz,\n,'.repeat(10_000);
      await using free = startWeir({ e: fixture('echo') }, { env: { WEIR_CHAIN: odd } });
      expect(await free.tools()).toContain('e:echo');
      const WEIR_CHAIN = Array.from({ length: 8 }, (_, index) => `000000000000000${index}`).join(',');
      await using deep = startWeir({ e: fixture('echo') }, { env: { WEIR_CHAIN } });
      const { error } = await deep.initialize();
      expect(error?.message).toContain('already has 8 gateways');
      expect(await deep.close()).toMatchObject({ code: 1 });
    },
  );
});

describe.concurrent('a url that points to the gateway itself', () => {
  for (const [type, path] of [
    ['http', 'mcp'],
    ['sse', 'sse'],
  ] as const)
    verifies(
      'AGG-CFG-4',
      `the gateway skips an ${type} url to itself, with one warning`,
      async ({ expect }) => {
        const port = await freePort();
        const url = `http://127.0.0.1:${port}/mcp`;
        const self = { type, url: `http://127.0.0.1:${port}/${path}` };
        const config = { self, e: fixture('echo') };
        const args = ['--port', String(port), '--no-auth', '--separator', ':'];
        await using served = await startServe(config, { args });
        await expect.poll(() => served.stderr, { timeout: 10_000 }).toMatch(SKIPPED);
        await using connected = await connectHttp(url, 'legacy');
        const { tools } = await connected.client.listTools();
        expect(tools.map(({ name }) => name).filter((name) => name.endsWith('echo'))).toEqual(['e:echo']);
        await delay(300);
        expect([...served.stderr.matchAll(SKIPPED)]).toHaveLength(1);
      },
    );

  verifies('AGG-CFG-4', 'a loop of two gateways on HTTP is cut', async ({ expect }) => {
    const [one, other] = [await freePort(), await freePort()];
    const urlOf = (port: number): string => `http://127.0.0.1:${port}/mcp`;
    const serve = (port: number, to: number): Promise<ServeProcess> =>
      startServe(
        { far: { url: urlOf(to) }, e: fixture('echo') },
        { args: ['--port', String(port), '--no-auth', '--separator', ':'] },
      );
    await using first = await serve(one, other);
    await using second = await serve(other, one);
    const isCut = (): boolean => `${first.stderr}${second.stderr}`.includes("Server 'far' is skipped");
    await expect.poll(isCut, { timeout: 15_000 }).toBe(true);
    for (const port of [one, other]) {
      await using connected = await connectHttp(urlOf(port), 'legacy');
      const { tools } = await connected.client.listTools();
      expect(tools.length).toBeLessThan(20);
    }
  });

  verifies('AGG-CFG-4', 'a gateway in a program skips its own url, without any config file', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/mcp`;
    await using weir = await serveTest(
      { self: { url }, e: fixture('echo') },
      { http: { port, token: undefined } },
    );
    await weir.gateway.allAttempted;
    expect([...weir.gateway.children.keys()]).toEqual(['e']);
    const { status, json } = await send(weir.url, modern('tools/list'));
    expect(status).toBe(200);
    expect(JSON.stringify(json)).not.toContain('self:');
    // Eight ids of no gateway: only this client is refused.
    const chain = Array.from({ length: 8 }, (_, index) => `000000000000000${index}`).join(',');
    const request = modern('tools/list');
    const forged = await send(weir.url, { ...request, headers: { ...request.headers, 'weir-chain': chain } });
    expect(forged.status).toBe(508);
    expect((await send(weir.url, modern('tools/list'))).status).toBe(200);
  });
});

/** Returns a free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
