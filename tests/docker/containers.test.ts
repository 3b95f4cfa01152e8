import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGateway, listContainers, removeOrphans, type McpConfig } from '@weir/gateway';
import { describe, expect } from 'vitest';
import {
  commandFor,
  connectSdk,
  runUntilFailed,
  startWeir,
  temporaryFolder,
  textOf,
} from '../support/harness.ts';
import { connectHttp, startServe } from '../support/http.ts';
import { verifies } from '../verifies.ts';
import { contained, docker, engineEnv, inspect, managed, noEngine, noNetwork, ours } from './engine.ts';

const env = engineEnv;

describe('servers in containers', () => {
  for (const era of ['legacy', 'modern'] as const)
    verifies.skipIf(noEngine)(
      'MANAGED-1',
      `containers of both eras answer a ${era} client by stdin and stdout`,
      async () => {
        const servers = { old: contained('echo'), new: managed(['modern']) };
        {
          await using sdk = await connectSdk(commandFor(servers, { env }), era);
          expect(await echo(sdk.client, 'old')).toBe('Hello from the container');
          expect(await echo(sdk.client, 'new')).toBe('Hello from the container');
          expect(await ours()).toHaveLength(2);
        }
        expect(await ours()).toEqual([]);
      },
    );

  verifies.skipIf(noEngine)(
    ['MANAGED-1', 'ERA-2'],
    'a dual-era container runs once, in the era of its first client',
    async () => {
      {
        await using weir = await startServe({ both: contained('dual-era-without-sdk') }, { env });
        const { token, url } = weir;
        const options = { token, capabilities: { elicitation: {} } };
        await using plain = await connectHttp(url, 'legacy', { token });
        const { content } = await plain.client.callTool({ name: 'both:who', arguments: {} });
        expect(JSON.stringify(content)).toContain('legacy');
        expect(await ours()).toHaveLength(1);
        await using sdk = await connectHttp(url, 'legacy', options);
        sdk.client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
        const asked = await sdk.client.callTool({ name: 'both:ask', arguments: {} });
        expect(asked.content).toEqual([{ type: 'text', text: 'legacy: {"action":"decline"}' }]);
        expect(await ours()).toHaveLength(1);
      }
      expect(await ours()).toEqual([]);
    },
  );

  const ways: [name: string, fixture: string[], docker: object, entry: object][] = [
    ['legacy, at a port that is free', ['matrix', 'legacy', 'http'], { ports: { '8080': 0 } }, {}],
    [
      'modern, with the port in the container alone',
      ['matrix', 'modern', 'http'],
      { port: 8080 },
      { type: 'http' },
    ],
    ['of HTTP+SSE', ['matrix', 'legacy', 'sse'], { port: 8080, path: '/sse' }, { transport: 'sse' }],
  ];
  for (const [name, fixture, more, entry] of ways)
    verifies.skipIf(noNetwork)('MANAGED-1', `a container is reached over HTTP: ${name}`, async () => {
      const server = { ...managed(fixture, more), env: { HOST: '0.0.0.0', PORT: '8080' }, ...entry };
      {
        await using sdk = await connectSdk(commandFor({ web: server }, { env }), 'legacy');
        const { tools } = await sdk.client.listTools();
        expect(tools.length).toBeGreaterThan(3);
        const [id = ''] = await ours();
        expect(await docker('port', id)).toMatch(/^8080\/tcp -> 127\.0\.0\.1:\d+$/);
      }
      expect(await ours()).toEqual([]);
    });

  verifies.skipIf(noNetwork)('MANAGED-1', 'a container gets the host port of its config', async () => {
    const port = 20_000 + (process.pid % 20_000);
    const server = managed(['matrix', 'legacy', 'http'], { ports: { '8080': port } });
    await using sdk = await connectSdk(
      commandFor({ web: { ...server, env: { HOST: '0.0.0.0', PORT: '8080' } } }, { env }),
      'modern',
    );
    expect((await sdk.client.listTools()).tools.length).toBeGreaterThan(3);
    expect(await docker('port', (await ours())[0] ?? '')).toBe(`8080/tcp -> 127.0.0.1:${port}`);
  });

  verifies.skipIf(noEngine)(
    'MANAGED-1',
    'a container gets the name of its config, or one with a suffix',
    async () => {
      await using one = startWeir({ a: managed(['echo']) }, { env });
      await one.initialize();
      await one.request('tools/list');
      await using two = startWeir({ a: managed(['echo']) }, { env });
      await two.initialize();
      await two.request('tools/list');
      const names = await Promise.all((await ours()).map(async (id) => (await inspect(id)).Name));
      expect(names.toSorted()).toEqual(['/test-echo', expect.stringMatching(/^\/test-echo-[0-9a-f]{8}$/)]);
    },
  );
});

describe('a container that is killed', () => {
  verifies.skipIf(noEngine)(
    ['MANAGED-1', 'MANAGED-3'],
    'a killed container is replaced by a new one',
    async () => {
      await using weir = startWeir({ a: managed(['echo']) }, { env });
      await weir.initialize();
      expect(await weir.tools()).toContain('a:echo');
      const [killed = ''] = await ours();
      await docker('kill', killed);
      await weir.says(/'a'.*exited with code 137/u);
      await expect
        .poll(async () => textOf(await weir.callTool('a:echo', { text: 'again' })), { timeout: 20_000 })
        .toBe('again');
      const [next = ''] = await ours();
      expect(next).not.toBe(killed);
      expect((await inspect(next)).Name).toBe('/test-echo');
    },
  );
});

describe('a container with large output', () => {
  verifies.skipIf(noEngine)(
    'MANAGED-1',
    'a container passes a message of several megabytes unchanged',
    async () => {
      await using weir = startWeir({ a: contained('echo') }, { env });
      await weir.initialize();
      const text = 'ü"\\n'.repeat(1_000_000);
      expect(textOf(await weir.callTool('a:echo', { text })) === text).toBe(true);
    },
  );
});

describe('containers of a gateway in a program', () => {
  verifies.skipIf(noNetwork)(
    ['MANAGED-1', 'MANAGED-3'],
    'a program calls servers in containers and lists them',
    async () => {
      const web = {
        ...managed(['matrix', 'legacy', 'http'], { port: 8080 }),
        env: { HOST: '0.0.0.0', PORT: '8080' },
      };
      const config = { mcpServers: { stdio: contained('echo'), web } } as McpConfig;
      const gateway = createGateway(config, { env: { ...process.env, ...env } });
      await gateway.start();
      expect(await gateway.callTool('stdio:echo', { text: 'Hello' })).toMatchObject({
        content: [{ text: 'Hello' }],
      });
      expect(await gateway.listTools()).not.toEqual([]);
      const listed = await listContainers({ ...process.env, ...env });
      expect(listed.map(({ server, owner }) => `${server} ${owner}`).toSorted()).toEqual([
        'stdio alive',
        'web alive',
      ]);
      // Neither container is an orphan while this process lives.
      expect(await removeOrphans({ ...process.env, ...env })).toEqual({ removed: [], left: [] });
      await gateway.close();
      expect(await ours()).toEqual([]);
    },
  );

  verifies.skipIf(noEngine)(
    'MANAGED-3',
    'a crashed container fails its call with the exit code and is removed',
    async () => {
      const config = { mcpServers: { fragile: contained('crash') } } as McpConfig;
      const gateway = createGateway(config, { env: { ...process.env, ...env } });
      await gateway.start();
      const [id = ''] = await ours();
      const call = gateway.callTool('fragile:crash', {});
      await expect(call).rejects.toThrow(/Server 'fragile' exited with code \d+/);
      await expect.poll(async () => (await ours()).includes(id), { timeout: 10_000 }).toBe(false);
      await gateway.close();
      expect(await ours()).toEqual([]);
    },
  );
});

describe('the rights of a container', () => {
  verifies.skipIf(noEngine)('MANAGED-2', 'a container has few rights by default', async () => {
    await using weir = startWeir({ a: contained('echo') }, { env });
    await weir.initialize();
    await weir.request('tools/list');
    const { HostConfig, State, Config } = await inspect((await ours())[0] ?? '');
    expect(HostConfig).toMatchObject({
      Init: true,
      AutoRemove: true,
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: null,
      SecurityOpt: ['no-new-privileges'],
      Memory: 2 * 1024 ** 3,
      MemorySwap: 2 * 1024 ** 3,
      NanoCpus: 1e9,
      PidsLimit: 512,
      NetworkMode: 'bridge',
      ReadonlyRootfs: false,
      Binds: null,
      PortBindings: {},
    });
    expect(statusOf(State.Pid)).toMatchObject({ CapEff: '0000000000000000', NoNewPrivs: '1', Seccomp: '2' });
    // Nothing of the gateway's own environment, nor its mark, is in there: only by which gateways it was started.
    expect(Config.Env).toEqual([
      expect.stringMatching(/^WEIR_CHAIN=[0-9a-f]{16}$/),
      'PATH=/bin',
      'HOME=/tmp',
    ]);
  });

  verifies.skipIf(noEngine)('MANAGED-2', 'a container has the rights of its config', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a,b "c".txt'), 'seen');
    const more = {
      memory: '256m',
      cpus: 0.5,
      network: 'none',
      readOnly: true,
      capabilities: ['CHOWN'],
      volumes: [`${join(folder, 'a,b "c".txt')}:/data.txt:ro`, 'weir-test-volume:/cache'],
    };
    await using weir = startWeir({ a: managed(['echo'], more) }, { env });
    await weir.initialize();
    await weir.request('tools/list');
    const id = (await ours())[0] ?? '';
    expect((await inspect(id)).HostConfig).toMatchObject({
      CapDrop: ['ALL'],
      CapAdd: [expect.stringMatching(/^(?:CAP_)?CHOWN$/)],
      Memory: 256 * 1024 ** 2,
      NanoCpus: 5e8,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
    });
    const read = "process.stdout.write(require('fs').readFileSync('/data.txt', 'utf8'))";
    expect(await docker('exec', id, 'node', '-e', read)).toBe('seen');
    const write = (path: string): Promise<string> =>
      docker('exec', id, 'node', '-e', `require('fs').writeFileSync('${path}', 'x')`);
    await expect(write('/data.txt')).rejects.toThrow('EROFS');
    await expect(write('/elsewhere')).rejects.toThrow('EROFS');
    await write('/tmp/x');
    await write('/cache/x');
  });

  verifies.skipIf(noEngine)(
    'MANAGED-2',
    'a container gets its variables, and no process shows them in its arguments',
    async () => {
      const secrets = {
        TOKEN: 'secret-7c1f8a',
        LINES: 'secret-7c1f8a\nsecond line',
        PATH: '/bin:/secret-7c1f8a',
        DOCKER_HOST: 'tcp://secret-7c1f8a:1',
        EMPTY: '',
        ODD: ' "secret-7c1f8a" \\ $HOME # ümläut',
      };
      const watching = watchArguments('secret-7c1f8a');
      const server = { ...contained('environment'), env: secrets, inheritEnv: ['WANTED'] };
      await using weir = startWeir(
        { a: server },
        { env: { ...env, WANTED: 'inherited', OTHER: 'not this one' } },
      );
      await weir.initialize();
      const answer = await weir.request('tools/call', { name: 'a:variables', arguments: {} });
      // In the config a value with $HOME is expanded, as everywhere.
      const odd = secrets.ODD.replace('$HOME', weir.folder);
      const variables = JSON.parse(textOf(answer)) as Record<string, string>;
      expect(variables).toMatchObject({ ...secrets, ODD: odd, WANTED: 'inherited' });
      expect(variables).not.toHaveProperty('OTHER');
      expect(Object.keys(variables).filter((name) => name.startsWith('WEIR_'))).toEqual(['WEIR_CHAIN']);
      const { looks, seen } = watching.end();
      expect(seen).toEqual([]);
      expect(looks).toBeGreaterThan(20);
      expect(weir.stderr).not.toContain('secret-7c1f8a');
    },
  );

  verifies.skipIf(noEngine)(
    'MANAGED-2',
    'volumes with the root of the machine or the engine are refused',
    async () => {
      const folder = temporaryFolder();
      symlinkSync('/', join(folder, 'link'));
      mkdirSync(join(folder, 'fine'));
      const socket = (env['DOCKER_HOST'] ?? '').replace('unix://', '');
      const unsafe = [
        '/:/host',
        `${join(folder, 'link')}:/host:ro`,
        `${socket}:/engine.sock`,
        `${join(socket, '..')}:/x`,
      ];
      for (const volume of unsafe) {
        const { code, stderr } = await runUntilFailed(
          { a: managed(['echo'], { volumes: [volume] }) },
          { env },
        );
        expect(code).toBe(1);
        expect(stderr).toMatch(/volume .*would expose the (?:root folder of this machine|container engine)/u);
        expect(stderr).toContain('"allowUnsafeMounts": true');
      }
      expect(await ours()).toEqual([]);
      const allowed = managed(['echo'], { volumes: ['/:/host:ro'], allowUnsafeMounts: true });
      await using weir = startWeir({ a: allowed }, { env });
      await weir.initialize();
      await weir.request('tools/list');
      expect(await ours()).toHaveLength(1);
    },
  );
});

async function echo(
  client: Awaited<ReturnType<typeof connectSdk>>['client'],
  server: string,
): Promise<unknown> {
  const { content } = await client.callTool({
    name: `${server}:echo`,
    arguments: { text: 'Hello from the container' },
  });
  return (content as { text: string }[])[0]?.text;
}

function statusOf(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n');
  return Object.fromEntries(lines.map((line) => line.split(':\t') as [string, string]));
}

/** Looks at the arguments of all processes, again and again. */
function watchArguments(text: string): { end(): { looks: number; seen: string[] } } {
  const seen = new Set<string>();
  let looks = 0;
  const timer = setInterval(() => {
    looks++;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (line.includes(text)) seen.add(line);
      } catch {
        // The process has just ended.
      }
    }
  }, 5);
  return {
    end() {
      clearInterval(timer);
      return { looks, seen: [...seen] };
    },
  };
}
