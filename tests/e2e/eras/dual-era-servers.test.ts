// Local servers that speak both ways, behind clients of the earlier revisions: what they can do in the older way reaches
// those clients as well, by a second process where many clients share the server, in the same one where there is one client.
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
import { counted, serveInProcess } from '../../support/in-process.ts';
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

describe.concurrent('a server of both ways that clients share', () => {
  verifies(['ERA-2', 'ERA-3'], 'asks clients of the earlier revisions as it does directly', async () => {
    await using http = await serveTest({ b: fixture('both') });
    const options = { capabilities: CAN_BE_ASKED };
    await using sdk = await connectHttp(http.url, 'legacy', options);
    sdk.client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { name: 'Ann' },
    }));
    const { content } = await sdk.client.callTool({ name: 'b:ask', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: 'legacy: Ann' }]);
  });

  onLinux(
    ['ERA-2', 'ERA-4'],
    'runs a second time for all such clients together, and for no others',
    async () => {
      const { entry, starts } = counted(fixture('both'));
      let pids: number[];
      {
        await using http = await serveTest({ b: entry });
        const plain = await openSession(http.url);
        const shared = await who(plain);
        expect([shared.era, await whoForModern(http.url), starts()]).toEqual(['modern', shared, 1]);
        const askable = await Promise.all(
          [{ elicitation: {} }, { sampling: {} }, { roots: {} }].map((capabilities) =>
            openSession(http.url, { capabilities }),
          ),
        );
        expect(starts()).toBe(1);
        const [first, ...others] = await Promise.all(askable.map(who));
        expect(first?.era).toBe('legacy');
        expect(first?.pid).not.toBe(shared.pid);
        expect(others).toEqual([first, first]);
        expect([await who(plain), await whoForModern(http.url)]).toEqual([shared, shared]);
        expect(starts()).toBe(2);
        pids = [shared.pid, first?.pid ?? 0];
        expect(pids.map(isAlive)).toEqual([true, true]);
      }
      expect(pids.map(isAlive)).toEqual([false, false]);
    },
  );

  onLinux(
    'HEALTH-2',
    'fails the calls under way where the second one dies, and starts another one',
    async () => {
      const { entry, starts } = counted(fixture('both'));
      await using http = await serveTest({ b: entry });
      const [session, plain] = [
        await openSession(http.url, { capabilities: CAN_BE_ASKED }),
        await openSession(http.url),
      ];
      const [shared, first] = [await who(plain), await who(session)];
      const stalled = failure(session, 'stall');
      expect(await failure(session, 'die')).toBe("Server 'b' exited with code 3");
      expect(await stalled).toBe("Server 'b' exited with code 3");
      const second = await who(session);
      expect([second.era, second.pid === first.pid, starts()]).toEqual(['legacy', false, 3]);
      expect(await who(plain)).toEqual(shared);
      expect(http.logged).toContainEqual(expect.stringMatching(/^warn .*'b'.* exited with code 3/u));
    },
  );

  onLinux('HEALTH-2', 'is not started over and over where its second process always dies', async () => {
    const { entry, starts } = counted(fixture('both'));
    await using http = await serveTest({ b: entry });
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    for (let death = 1; death <= 3; death++) expect(await failure(session, 'die')).toContain('exited');
    expect((await who(session)).era).toBe('modern');
    expect(starts()).toBe(4);
  });

  onLinux('ERA-2', 'is asked for the earlier way once, where it turns out not to know it', async () => {
    for (const mode of ['modern', 'brittle']) {
      const { entry, starts } = counted(fixture('both', mode));
      await using http = await serveTest({ b: entry });
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      for (let call = 0; call < 3; call++) expect((await who(session)).era).toBe('modern');
      expect(starts()).toBe(2);
    }
  });

  onLinux('HEALTH-3', 'takes its second process with it when it is stopped or started anew', async () => {
    const { entry } = counted(fixture('both'));
    await using http = await serveTest({ b: entry });
    const { gateway } = http;
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    let last = await who(session);
    const ends = [() => gateway.restart('b'), () => gateway.disable('b').then(() => gateway.enable('b'))];
    for (const end of ends) {
      const stalled = failure(session, 'stall');
      await until(() => gateway.children.get('b')?.inFlight === 1);
      await end();
      expect(await stalled).toMatch(/^Server 'b' /u);
      await until(() => !isAlive(last.pid));
      const next = await who(session);
      expect([next.era, next.pid === last.pid]).toEqual(['legacy', false]);
      last = next;
    }
    await gateway.reload({ mcpServers: { b: { ...entry, env: { ANOTHER: '1' } } } });
    await until(() => !isAlive(last.pid));
    last = await who(session);
    expect(last.era).toBe('legacy');
    await gateway.reload({ mcpServers: {} });
    await until(() => !isAlive(last.pid));
  });

  onLinux('HEALTH-2', 'takes its second process with it when it dies', async () => {
    await using http = await serveTest({ b: fixture('both') });
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    const plain = await openSession(http.url);
    const { pid } = await who(session);
    expect(await failure(plain, 'die')).toContain('exited with code 3');
    await until(() => !isAlive(pid));
  });

  onLinux('AGG-CHILD-5', 'leaves neither process behind when the gateway is killed', async () => {
    await using weir = await startServe({ b: fixture('both') });
    const { token, url } = weir;
    const session = await openSession(url, { token, capabilities: CAN_BE_ASKED });
    const plain = await openSession(url, { token });
    const pids = [(await who(session)).pid, (await who(plain)).pid];
    expect([new Set(pids).size, ...pids.map(isAlive)]).toEqual([2, true, true]);
    weir.kill('SIGKILL');
    await until(() => !pids.some(isAlive));
  });

  verifies('HEALTH-3', 'does not sleep while its second process starts', async () => {
    await using http = await serveTest({ b: fixture('both') }, { lazy: true, idleAfter: 50 });
    const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
    expect((await who(session)).era).toBe('legacy');
  });

  onLinux.slow(
    'HEALTH-3',
    'does not sleep while its second process works, and takes it with it when it does',
    async () => {
      const options = { lazy: true, idleAfter: 1500 };
      await using http = await serveTest({ b: fixture('both') }, options);
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      const { pid } = await who(session);
      let isAnswered = false;
      void session.post(session.call('b:stall')).then(() => (isAnswered = true));
      await new Promise((resolve) => setTimeout(resolve, 2500));
      expect([isAlive(pid), isAnswered]).toEqual([true, false]);
      await session.post(rpc('notifications/cancelled', { requestId: 1 }));
      await until(() => !isAlive(pid));
      expect((await who(session)).era).toBe('legacy');
    },
  );

  verifies(
    'AGG-CALL-3',
    'tells its clients what the process says that they are served by: lists, updates, roots',
    async () => {
      await using http = await serveTest({ b: fixture('both') });
      const session = await openSession(http.url, { capabilities: { roots: { listChanged: true } } });
      const events = await session.listen();
      expect((await session.post(rpc('resources/subscribe', { uri: 'both://one' }, 2))).json.result).toEqual(
        {},
      );
      await session.post(session.call('b:touch'));
      expect(await events.message()).toMatchObject({
        method: 'notifications/resources/updated',
        params: { uri: 'both://one' },
      });
      await session.post(session.call('b:grow'));
      expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
      const { json } = await session.post(rpc('tools/list', {}, 3));
      expect(json.result?.['tools']).toContainEqual(expect.objectContaining({ name: 'b:grown' }));
      const { pid } = await who(session);
      expect(textOf((await session.post(session.call('b:grown'))).json)).toBe(`grown in ${pid}`);
      await session.post(rpc('notifications/roots/list_changed'));
      expect(textOf((await session.post(session.call('b:roots-changed'))).json)).toBe('1');
    },
  );

  verifies(
    ['AGG-CALL-3', 'ERA-2'],
    'watches in its second process for as long as any of its clients does',
    async () => {
      await using http = await serveTest({ b: fixture('both') });
      const subscribe = rpc('resources/subscribe', { uri: 'both://one' }, 2);
      const plain = [await openSession(http.url), await openSession(http.url)];
      for (const session of plain) await session.post(subscribe);
      const session = await openSession(http.url, { capabilities: CAN_BE_ASKED });
      expect((await who(session)).era).toBe('legacy');
      const events = await session.listen();
      await session.post(subscribe);
      for (const one of plain) await one.end();
      await session.post(session.call('b:touch'));
      expect(await events.message()).toMatchObject({ method: 'notifications/resources/updated' });
      await session.post(rpc('resources/unsubscribe', { uri: 'both://one' }, 3));
      await session.post(session.call('b:touch'));
      await session.post(session.call('b:grow'));
      expect(await events.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
    },
  );
});

describe.concurrent('a server of both ways with one client on stdio', () => {
  verifies(
    ['ERA-2', 'ERA-3', 'ERA-4'],
    'is spoken to in the way of that client, in one process',
    async () => {
      const { entry, starts } = counted(fixture('both'));
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

  verifies('ERA-4', 'is remembered as what it is', async () => {
    const folder = temporaryFolder();
    for (const [capabilities, era] of [
      [CAN_BE_ASKED, 'legacy'],
      [{}, 'modern'],
    ] as const) {
      const { entry, starts } = counted(fixture('both'));
      await using weir = startWeir({ b: entry }, { folder });
      await weir.initialize(capabilities);
      expect(readWho(textOf(await weir.callTool('b:who'))).era).toBe(era);
      expect(starts()).toBe(1);
      const [verdict = ''] = readdirSync(join(folder, 'state', 'eras'));
      expect(readFileSync(join(folder, 'state', 'eras', verdict), 'utf8')).toContain('"modern"');
    }
  });

  verifies('ERA-2', 'gets a second process where the client came too late to be waited for', async () => {
    const { entry, starts } = counted(fixture('both'));
    await using weir = serveInProcess({ b: entry });
    await weir.gateway.settled;
    expect(starts()).toBe(1);
    await weir.initialize(CAN_BE_ASKED);
    const call = weir.callTool('b:ask');
    const { id } = await weir.call('elicitation/create');
    weir.send({ id, result: { action: 'accept', content: { name: 'Cy' } } });
    expect(textOf(await call)).toBe('legacy: Cy');
    expect(starts()).toBe(2);
  });

  verifies('ERA-4', 'goes on in the modern way where it knows no other', async () => {
    const { entry, starts } = counted(fixture('both', 'modern'));
    await using weir = serveInProcess({ b: entry });
    await weir.initialize(CAN_BE_ASKED);
    expect(readWho(textOf(await weir.callTool('b:who'))).era).toBe('modern');
    expect(starts()).toBe(1);
  });

  verifies('ERA-4', 'is started once more, and asked no more, where it dies of the question', async () => {
    const { entry, starts } = counted(fixture('both', 'brittle'));
    await using weir = serveInProcess({ b: entry });
    await weir.initialize(CAN_BE_ASKED);
    for (let call = 0; call < 2; call++)
      expect(readWho(textOf(await weir.callTool('b:who'))).era).toBe('modern');
    expect(starts()).toBe(2);
  });
});
