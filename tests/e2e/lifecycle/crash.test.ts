import { ChildServerError, type ChildServerClient } from '@weir/gateway';
// A crash removes the calls and names of its own server, and no others.
import { describe, expect } from 'vitest';
import { fixture, modernMeta, scripted, startWeir, textOf, type Received } from '../../support/harness.ts';
import { createTestGateway, open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

verifies(
  'AGG-CHILD-4',
  'the kill of one of three servers fails only its own 50 calls in flight',
  async () => {
    await using weir = startWeir({ a: fixture('crash'), b: fixture('crash'), c: fixture('crash') });
    await weir.tools();
    const pid = Number(textOf(await weir.callTool('b:pid')));
    const calls = ['a', 'b', 'c'].flatMap((key) =>
      Array.from({ length: 50 }, async () => {
        const answer = await weir.callTool(`${key}:slow`, { ms: 2000 });
        return { key, answer, at: performance.now() };
      }),
    );
    await weir.callTool('b:pid');
    process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(
      ['crash', 'kill', 'slow', 'pid']
        .flatMap((name) => [`a:${name}`])
        .concat(['c:crash', 'c:kill', 'c:slow', 'c:pid']),
    );
    expect((await weir.callTool('b:pid')).error).toEqual({
      code: -32602,
      message: expect.stringMatching(
        /^Tool not found: b:pid \(its server 'b' is not running; it is (tried again in [\d.]+ s|being started)\)$/u,
      ) as string,
    });
    for (const { key, answer, at } of await Promise.all(calls)) {
      if (key !== 'b') expect(textOf(answer)).toBe('waited 2000');
      else expect(answer.error).toEqual({ code: -32000, message: "Server 'b' was killed by SIGKILL" });
      if (key === 'b') expect(at - killedAt).toBeLessThan(1000);
    }
    expect(weir.stderr).toContain("Server 'b' crashed during operation: it was killed by SIGKILL");
  },
);

/** No server comes back before a test has looked at what its end has left. */
const stays = { supervision: { backOffMs: [60_000] } };

describe.concurrent('a server that dies', () => {
  const dies = scripted(`
    import { serve, tool } from 'stdio';
    serve({ name: 'dies', tools: [tool('x')], on: { 'tools/list': () => {
      setTimeout(() => process.exit(7), 50);
      return { tools: [tool('x')] };
    } } });`);

  verifies(
    ['AGG-CHILD-3', 'AGG-CHILD-4'],
    'a crash during the start of others fails the start, unless with --keep-going',
    async () => {
      const servers = { d: dies, s: fixture('slow-start', '600') };
      await expect(createTestGateway(servers).start()).rejects.toMatchObject({
        serverKey: 'd',
        phase: 'runtime',
        message: "Server 'd' crashed during operation: it exited with code 7",
      });
      await using weir = serveInProcess(servers, { keepGoing: true, ...stays });
      expect(await weir.tools()).toEqual(['s:echo']);
    },
  );

  verifies(
    'AGG-CHILD-4',
    'a crashed server has status failed, its error, and its stderr in the log',
    async () => {
      await using weir = serveInProcess({ a: fixture('crash'), e: fixture('echo') }, stays);
      await weir.tools();
      const child = weir.gateway.children.get('a');
      expect(child?.status).toBe('running');
      expect((await weir.callTool('a:crash')).error).toEqual({
        code: -32000,
        message: "Server 'a' exited with code 3",
      });
      expect(child?.status).toBe('failed');
      expect(child?.error).toBeInstanceOf(ChildServerError);
      expect(child?.error).toMatchObject({ serverKey: 'a', phase: 'runtime' });
      expect(child?.error?.cause).toBeInstanceOf(Error);
      expect(child?.error?.cause?.message).toBe("Server 'a' exited with code 3");
      // A copy has the documented fields, too.
      const copied: ChildServerClient | undefined = child;
      expect({ ...copied }).toMatchObject({
        serverKey: 'a',
        status: 'failed',
        error: child?.error,
        client: child,
      });
      expect(weir.gateway.children.get('e')?.status).toBe('running');
      expect(weir.logged.join('\n')).toContain('[a] crash: the tool crash was called');
      await weir.call('notifications/tools/list_changed');
      expect([...weir.gateway.registry.keys()].every((name) => name.startsWith('e:'))).toBe(true);
    },
  );

  verifies(
    'AGG-CHILD-4',
    'the crash of a server removes its prompts and resources, with a notice each',
    async () => {
      const mortal = scripted(`
      process.argv[2] = 'note';
      await import(${JSON.stringify(new URL('../../fixtures/resources.mjs', import.meta.url).href)});
      process.stdin.on('data', (chunk) => chunk.includes('"touch"') && process.exit(1));`);
      await using weir = serveInProcess({ n: mortal, e: fixture('echo') }, stays);
      await weir.initialize();
      expect((await weir.request('resources/list')).result?.['resources']).toHaveLength(2);
      await weir.callTool('n:touch', { uri: 'x' });
      for (const kind of ['tools', 'prompts', 'resources'])
        await weir.call(`notifications/${kind}/list_changed`);
      for (const [method, list] of [
        ['prompts/list', 'prompts'],
        ['resources/list', 'resources'],
        ['resources/templates/list', 'resourceTemplates'],
      ] as const) {
        expect((await weir.request(method)).result?.[list]).toEqual([]);
      }
      expect((await weir.request('resources/read', { uri: 'note://one' })).error).toMatchObject({
        code: -32602,
      });
    },
  );

  verifies(
    ['AGG-CHILD-4', 'ERA-1'],
    'a modern client gets the notice of a crash through its subscription',
    async () => {
      await using weir = serveInProcess({ a: fixture('crash'), e: fixture('echo') }, stays);
      const ask = await open(weir, 'modern');
      await ask('tools/list');
      weir.send({
        id: 9,
        method: 'subscriptions/listen',
        params: { notifications: { toolsListChanged: true }, ...modernMeta() },
      });
      await weir.call('notifications/subscriptions/acknowledged');
      expect((await ask('tools/call', { name: 'a:kill' })).error?.message).toBe(
        "Server 'a' was killed by SIGKILL",
      );
      expect((await weir.call('notifications/tools/list_changed')).params).toEqual({
        _meta: { 'io.modelcontextprotocol/subscriptionId': 9 },
      });
    },
  );

  verifies('AGG-CHILD-4', 'a call gets the answer that its server wrote right before it exited', async () => {
    const lastWords = scripted(`
      import { reply, serve, text, tool } from 'stdio';
      serve({ name: 'last', tools: [tool('answer')], call: { answer: (_args, { id }) => {
        reply(id, text('x'.repeat(60_000)));
        process.exit(1);
      } } });`);
    await using weir = serveInProcess({ l: lastWords }, stays);
    await weir.initialize();
    expect(textOf(await weir.callTool('l:answer'))).toHaveLength(60_000);
    await weir.call('notifications/tools/list_changed');
  });

  verifies('AGG-CHILD-4', 'the gateway and its other servers survive crashes of servers', async () => {
    await using weir = serveInProcess(
      { a: fixture('crash'), b: fixture('crash'), e: fixture('echo') },
      stays,
    );
    await weir.tools();
    await Promise.all([weir.callTool('a:crash'), weir.callTool('b:kill')]);
    await weir.call('notifications/tools/list_changed');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => weir.callTool('e:echo', { text: String(i) })),
    );
    expect(answers.map(textOf)).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
    for (const name of ['a:slow', 'b:slow']) expect((await weir.callTool(name)).error?.code).toBe(-32602);
  });
});

/** A server that can be told to shut one of its ends, and lives on. */
const shuts = scripted(`
  import { closeSync } from 'node:fs';
  import { serve, text, tool } from 'stdio';
  setInterval(() => {}, 60_000);
  serve({ name: 'shuts', tools: [tool('stdout'), tool('stdin'), tool('echo')], call: {
    stdout: () => closeSync(1),
    stdin: () => (setImmediate(() => closeSync(0)), text('closed')),
    echo: (args) => text(args.text),
  } });`);

describe.concurrent('a server with a closed pipe', () => {
  const saysSo = async (weir: InProcess, answer: Promise<Received>): Promise<void> => {
    expect((await answer).error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^Server 's' /u) as string,
    });
    await weir.call('notifications/tools/list_changed');
    expect(weir.gateway.children.get('s')?.status).toBe('failed');
    expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
  };

  verifies('AGG-CHILD-4', 'a server that closes its stdout counts as failed', async () => {
    await using weir = serveInProcess({ s: shuts, e: fixture('echo') }, stays);
    await weir.tools();
    await saysSo(weir, weir.callTool('s:stdout'));
  });

  verifies('AGG-CHILD-4', 'a server that closes its stdin counts as failed', async () => {
    await using weir = serveInProcess({ s: shuts, e: fixture('echo') }, stays);
    await weir.tools();
    expect(textOf(await weir.callTool('s:stdin'))).toBe('closed');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await saysSo(weir, weir.callTool('s:echo', { text: 'x' }));
  });
});
