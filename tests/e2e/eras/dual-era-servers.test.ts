// Local servers that speak both eras: one process in one era for all clients, that of the first client that uses it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  connectSdk,
  commandFor,
  fixture,
  startWeir,
  temporaryFolder,
  textOf,
} from '../../support/harness.ts';
import {
  connectHttp,
  modern,
  openSession,
  rpc,
  send,
  serveTest,
  startServe,
  type LegacyClient,
} from '../../support/http.ts';
import { counted, createTestGateway, serveInProcess } from '../../support/in-process.ts';
import { isAlive, until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');

const CAN_BE_ASKED = { elicitation: {} };

/** Era and process that a client's calls reach. */
interface Who {
  readonly era: string;
  readonly pid: number;
}

function readWho(text: string): Who {
  const [era = '', pid] = text.split(' ');
  return { era, pid: Number(pid) };
}

async function who(session: LegacyClient): Promise<Who> {
  return readWho(textOf((await session.post(session.call('b:who'))).json));
}

async function whoForModern(url: string): Promise<Who> {
  return readWho(textOf((await send(url, modern('tools/call', { name: 'b:who' }))).json));
}

async function failure(session: LegacyClient, tool: string): Promise<string | undefined> {
  return (await session.post(session.call(`b:${tool}`))).json.error?.message;
}

describe.concurrent('a local server of both eras that clients share', () => {
  verifies(
    ['ERA-2', 'ERA-3'],
    'a shared dual-era server asks its first, legacy client as it does directly',
    async () => {
      await using http = await serveTest({ b: fixture('dual-era') });
      const options = { capabilities: CAN_BE_ASKED };
      await using sdk = await connectHttp(http.url, 'legacy', options);
      sdk.client.setRequestHandler('elicitation/create', () => ({
        action: 'accept',
        content: { name: 'Ann' },
      }));
      const { content } = await sdk.client.callTool({ name: 'b:ask', arguments: {} });
      expect(content).toEqual([{ type: 'text', text: 'legacy: Ann' }]);
    },
  );

  verifies(
    ['ERA-2', 'ERA-4'],
    'a dual-era server restarts for a first legacy client and serves all in that process',
    async () => {
      const { entry, starts } = counted(fixture('dual-era'));
      await using http = await serveTest({ b: entry });
      const [plain, askable] = [
        await openSession(http.url),
        await openSession(http.url, { capabilities: CAN_BE_ASKED }),
      ];
      expect(starts()).toBe(1);
      const first = await who(plain);
      expect(first.era).toBe('legacy');
      expect([await who(askable), await whoForModern(http.url), starts()]).toEqual([first, first, 2]);
      expect(http.logged).toContainEqual(
        expect.stringMatching(/^info Server 'b' restarts in the legacy era/u),
      );
    },
  );

  verifies(['ERA-2', 'ERA-4'], 'a dual-era server does not restart for a first modern client', async () => {
    const { entry, starts } = counted(fixture('dual-era'));
    await using http = await serveTest({ b: entry });
    const first = await whoForModern(http.url);
    expect(first.era).toBe('modern');
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    expect([await who(session), starts()]).toEqual([first, 1]);
  });

  verifies(
    ['ERA-2', 'ERA-4'],
    'a dual-era server gets one era where clients of both eras come first at once',
    async () => {
      const { entry, starts } = counted(fixture('dual-era'));
      await using http = await serveTest({ b: entry });
      const sessions = await Promise.all([1, 2, 3].map(() => openSession(http.url)));
      const found = await Promise.all([
        ...sessions.map(who),
        ...[1, 2, 3].map(() => whoForModern(http.url)),
        ...sessions.map(who),
      ]);
      expect(new Set(found.map(({ pid }) => pid)).size).toBe(1);
      expect(starts()).toBeLessThanOrEqual(2);
    },
  );

  verifies(
    'AGG-CALL-2',
    'a dual-era server keeps its tools listed while it restarts in another era',
    async () => {
      await using http = await serveTest({ b: fixture('dual-era') });
      const session = await openSession(http.url);
      const events = await session.listen();
      const listed = async () => (await session.post(rpc('tools/list', {}, 2))).json.result;
      const before = await listed();
      const call = who(session);
      expect(await listed()).toEqual(before);
      expect((await call).era).toBe('legacy');
      expect(await listed()).toEqual(before);
      await session.post(session.call('b:grow'));
      // The first notification is that of the new tool: the start itself changed no list.
      expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
      expect((await listed())?.['tools']).toContainEqual(expect.objectContaining({ name: 'b:grown' }));
    },
  );

  onLinux('HEALTH-2', 'a dual-era server keeps its era after a crash', async () => {
    const { entry, starts } = counted(fixture('dual-era'));
    await using http = await serveTest({ b: entry }, { supervision: { backOffMs: [10, 10, 10] } });
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    const first = await who(session);
    const stalled = failure(session, 'stall');
    expect(await failure(session, 'die')).toBe("Server 'b' exited with code 3");
    expect(await stalled).toBe("Server 'b' exited with code 3");
    await until(() => http.gateway.children.get('b')?.status === 'running');
    const second = await whoForModern(http.url);
    expect([second.era, second.pid === first.pid, starts()]).toEqual(['legacy', false, 3]);
  });

  onLinux(
    'HEALTH-3',
    'a dual-era server keeps its era over restarts, and may change it with a new entry',
    async () => {
      const { entry } = counted(fixture('dual-era'));
      await using http = await serveTest({ b: entry });
      const { gateway } = http;
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      let last = await who(session);
      const ends = [() => gateway.restart('b'), () => gateway.disable('b').then(() => gateway.enable('b'))];
      for (const end of ends) {
        const stalled = failure(session, 'stall');
        await until(() => gateway.children.get('b')?.usage.inFlight === 1);
        await end();
        expect(await stalled).toMatch(/^Server 'b' /u);
        const next = await whoForModern(http.url);
        expect([next.era, next.pid === last.pid, isAlive(last.pid)]).toEqual(['legacy', false, false]);
        last = next;
      }
      await gateway.reload({ mcpServers: { b: { ...entry, env: { ANOTHER: '1' } } } });
      const changed = await whoForModern(http.url);
      expect(changed.era).toBe('modern');
      expect(await who(session)).toEqual(changed);
      await gateway.reload({ mcpServers: {} });
      await until(() => !isAlive(changed.pid));
    },
  );

  onLinux('ERA-2', 'a modern-only server restarts at most once for legacy clients', async () => {
    for (const [mode, expected] of [
      ['modern', 2],
      // This server ends when it gets the legacy handshake.
      ['brittle', 3],
    ] as const) {
      const { entry, starts } = counted(fixture('dual-era', mode));
      await using http = await serveTest({ b: entry }, { supervision: { backOffMs: [10, 10, 10] } });
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      for (let call = 0; call < 3; call++) expect((await who(session)).era).toBe('modern');
      expect(starts()).toBe(expected);
      expect(await failure(session, 'die')).toBe("Server 'b' exited with code 3");
      await until(() => http.gateway.children.get('b')?.status === 'running');
      expect([(await who(session)).era, starts()]).toEqual(['modern', expected + 1]);
    }
  });

  onLinux(
    'AGG-CHILD-5',
    'a dual-era server leaves no process behind when the gateway is killed',
    async () => {
      await using weir = await startServe({ b: fixture('dual-era') });
      const { token, url } = weir;
      const session = await openSession(url, { token, capabilities: CAN_BE_ASKED });
      const { pid } = await who(session);
      expect(isAlive(pid)).toBe(true);
      weir.kill('SIGKILL');
      await until(() => !isAlive(pid));
    },
  );

  onLinux.slow(
    'HEALTH-3',
    'a lazy dual-era server starts in the era of its client, and keeps it when it stops',
    async () => {
      const { entry, starts } = counted(fixture('dual-era'));
      const configPath = join(temporaryFolder(), 'mcp.json');
      const state = join(temporaryFolder(), 'state');
      const options = { lazy: true, idleAfter: 300, configPath, state };
      {
        // Its lists are kept for the next gateway.
        await using http = await serveTest({ b: entry }, options);
        await until(() => http.gateway.children.get('b')?.status === 'running');
      }
      const before = starts();
      await using http = await serveTest({ b: entry }, options);
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      const first = await who(session);
      expect([first.era, starts()]).toEqual(['legacy', before + 1]);
      await until(() => !isAlive(first.pid));
      const second = await whoForModern(http.url);
      expect([second.era, second.pid === first.pid, starts()]).toEqual(['legacy', false, before + 2]);
    },
  );

  verifies('ERA-4', 'a dual-era server does not restart for a program, which has no era', async () => {
    const { entry, starts } = counted(fixture('dual-era'));
    await using http = await serveTest({ b: entry });
    const { content } = (await http.gateway.callTool('b:who')) as { content: { text: string }[] };
    const program = readWho(content[0]?.text ?? '');
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    expect([program.era, await who(session), starts()]).toEqual(['modern', program, 1]);
  });

  verifies(
    'AGG-CALL-3',
    'a dual-era server keeps subscriptions and roots when it restarts in another era',
    async () => {
      await using http = await serveTest({ b: fixture('dual-era') });
      const session = await openSession(http.url, { capabilities: { roots: { listChanged: true } } });
      const events = await session.listen();
      expect((await session.post(rpc('resources/subscribe', { uri: 'dual://one' }, 2))).json.result).toEqual(
        {},
      );
      await session.post(session.call('b:touch'));
      expect(await events.message()).toMatchObject({
        method: 'notifications/resources/updated',
        params: { uri: 'dual://one' },
      });
      await session.post(session.call('b:grow'));
      expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
      const { pid } = await who(session);
      expect(textOf((await session.post(session.call('b:grown'))).json)).toBe(`grown in ${pid}`);
      await session.post(rpc('notifications/roots/list_changed'));
      expect(textOf((await session.post(session.call('b:roots-changed'))).json)).toBe('1');
    },
  );
});

describe.concurrent('the key "era" of an entry', () => {
  verifies(['ERA-2', 'ERA-4'], '"era" in an entry fixes the era of its server from the start', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { entry, starts } = counted(fixture('dual-era'));
      await using http = await serveTest({ b: { ...entry, era } });
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      const first = await who(session);
      expect([first.era, await whoForModern(http.url), starts()]).toEqual([era, first, 1]);
    }
  });

  verifies('ERA-4', 'the start fails where a server does not speak the "era" of its entry', async () => {
    for (const [entry, era] of [
      [fixture('dual-era', 'modern'), 'legacy'],
      [fixture('echo'), 'modern'],
    ] as const) {
      const gateway = createTestGateway({ b: { ...entry, era } });
      await expect(gateway.start()).rejects.toThrow(
        new RegExp(`'b' .* does not speak the ${era} era: .*; remove "era" from its entry`, 'u'),
      );
      await gateway.close();
    }
  });
});

describe.concurrent('a local server of both eras with one client on stdio', () => {
  verifies(
    ['ERA-2', 'ERA-3', 'ERA-4'],
    'a dual-era server of one stdio client runs once, in the era of that client',
    async () => {
      const { entry, starts } = counted(fixture('dual-era'));
      const command = commandFor({ b: entry });
      await using sdk = await connectSdk(command, 'legacy', { capabilities: CAN_BE_ASKED });
      sdk.client.setRequestHandler('elicitation/create', () => ({
        action: 'accept',
        content: { name: 'Bob' },
      }));
      const { content } = await sdk.client.callTool({ name: 'b:ask', arguments: {} });
      expect(content).toEqual([{ type: 'text', text: 'legacy: Bob' }]);
      expect(starts()).toBe(1);
    },
  );

  verifies(
    'ERA-4',
    'the gateway remembers a dual-era server as modern whatever its client speaks',
    async () => {
      const folder = temporaryFolder();
      for (const [capabilities, era] of [
        [CAN_BE_ASKED, 'legacy'],
        [{}, 'legacy'],
      ] as const) {
        const { entry, starts } = counted(fixture('dual-era'));
        await using weir = startWeir({ b: entry }, { folder });
        await weir.initialize(capabilities);
        expect(readWho(textOf(await weir.callTool('b:who'))).era).toBe(era);
        expect(starts()).toBe(1);
        await weir.close();
        const [verdict = ''] = readdirSync(join(folder, 'state', 'eras'));
        expect(readFileSync(join(folder, 'state', 'eras', verdict), 'utf8')).toContain('"modern"');
      }
    },
  );

  verifies('ERA-2', 'a dual-era server restarts where its legacy client speaks after its start', async () => {
    const { entry, starts } = counted(fixture('dual-era'));
    await using weir = serveInProcess({ b: entry });
    await weir.gateway.ready;
    expect(starts()).toBe(1);
    await weir.initialize(CAN_BE_ASKED);
    const call = weir.callTool('b:ask');
    const { id } = await weir.call('elicitation/create');
    weir.send({ id, result: { action: 'accept', content: { name: 'Cy' } } });
    expect(textOf(await call)).toBe('legacy: Cy');
    expect(starts()).toBe(2);
  });

  verifies('ERA-4', 'a modern-only server stays in the modern era for a legacy client', async () => {
    const { entry, starts } = counted(fixture('dual-era', 'modern'));
    await using weir = serveInProcess({ b: entry });
    await weir.initialize(CAN_BE_ASKED);
    expect(readWho(textOf(await weir.callTool('b:who'))).era).toBe('modern');
    expect(starts()).toBe(1);
  });

  verifies('ERA-4', 'a server that ends at the legacy handshake is started once more', async () => {
    const { entry, starts } = counted(fixture('dual-era', 'brittle'));
    await using weir = serveInProcess({ b: entry });
    await weir.initialize(CAN_BE_ASKED);
    for (let call = 0; call < 2; call++)
      expect(readWho(textOf(await weir.callTool('b:who'))).era).toBe('modern');
    expect(starts()).toBe(2);
    const again = 'ended before it answered initialize of the legacy era; Weir starts it once more';
    expect(weir.logged.filter((line) => line.includes(again))).toHaveLength(1);
  });
});
