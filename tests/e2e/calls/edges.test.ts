// Edge cases that a sceptical user found: each lies where two features meet.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect } from 'vitest';
import { commandFor, fixture, runOver, scripted, startWeir, textOf } from '../../support/harness.ts';
import { serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const MB = 1024 * 1024;
const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

describe.concurrent('a resource whose server is not running', () => {
  const two = { a: fixture('resources', 'left', 'A'), b: fixture('resources', 'right', 'B') };
  const down = { ...two, a: { command: 'no-such-command' } };

  verifies(
    'AGG-CALL-3',
    'the gateway never reads a resource of a stopped server from another server',
    async () => {
      await using weir = startWeir(down, { args: ['--keep-going'] });
      await weir.tools();
      for (const uri of ['left://one', 'left://unlisted']) {
        const { error } = await weir.request('resources/read', { uri });
        expect(error).toMatchObject({ code: -32602, message: `Resource not found: ${uri}` });
      }
      const { error } = await weir.request('resources/read', { uri: 'weir://a/left%3A%2F%2Fone' });
      expect(error?.message).toContain(
        "Resource not found: weir://a/left%3A%2F%2Fone (its server 'a' is not running; it is",
      );
    },
  );

  verifies('AGG-CALL-3', 'the error for a listed resource says that its server is not running', async () => {
    const mortal = scripted(`
      import { serve, tool } from 'stdio';
      serve({
        name: 'mortal',
        capabilities: { tools: {}, resources: {} },
        tools: [tool('die')],
        call: { die: () => process.exit(3) },
        on: { 'resources/list': () => ({ resources: [{ uri: 'left://one', name: 'one' }] }) },
      });`);
    await using weir = serveInProcess({ ...two, a: mortal }, { supervision: { backOffMs: [60_000] } });
    await weir.tools();
    await weir.callTool('a:die');
    const { error } = await weir.request('resources/read', { uri: 'left://one' });
    expect(error?.message).toBe(
      "Resource not found: left://one (its server 'a' is not running; it is tried again in 60 s)",
    );
  });

  verifies('AGG-CALL-3', 'the error for a URI that several servers list names the full URIs', async () => {
    await using weir = startWeir({ a: fixture('resources', 'x', 'A'), b: fixture('resources', 'x', 'B') });
    await weir.tools();
    const { error } = await weir.request('resources/read', { uri: 'x://one' });
    expect(error?.message).toBe(
      'Resource not found: x://one may mean weir://a/x%3A%2F%2Fone or weir://b/x%3A%2F%2Fone; use the full name',
    );
  });

  verifies(
    'AGG-CALL-3',
    'a resource below a shared template comes back under the requested URI',
    async () => {
      await using weir = startWeir({ a: fixture('resources', 'x', 'A'), b: fixture('resources', 'x', 'B') });
      await weir.tools();
      const uri = 'weir://b/x%3A%2F%2Fitem%2F7';
      const { result } = await weir.request('resources/read', { uri });
      expect(result?.['contents']).toMatchObject([{ uri }]);
    },
  );
});

describe.concurrent('a large call', () => {
  verifies('AGG-CALL-1', 'a large call does not block the small ones behind it', async () => {
    await using weir = startWeir({ e: fixture('echo') });
    await weir.tools();
    const large = weir.callTool('e:echo', { text: 'x'.repeat(20 * MB) });
    const small = await Promise.all([1, 2, 3].map((n) => weir.callTool('e:echo', { text: `${n}` })));
    expect(small.map(textOf)).toEqual(['1', '2', '3']);
    expect(textOf(await large).length).toBe(20 * MB);
  });
});

describe.concurrent('the end of the input', () => {
  verifies(
    'AGG-CALL-1',
    'the gateway answers a call in flight with an error when its input ends, and logs it',
    async () => {
      const line = (id: number, method: string, params: unknown): string =>
        `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
      const input = line(1, 'initialize', hello) + line(2, 'tools/call', { name: 's:stall', arguments: {} });
      const { code, stdout, stderr } = await runOver({ s: fixture('stall') }, { input });
      expect(code).toBe(0);
      expect(stdout).toContain(
        '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Server \'s\' has been stopped"}}',
      );
      expect(stderr).toContain('one request was not finished');
    },
  );

  verifies('AGG-CHILD-5', 'SIGTERM ends the gateway although its client reads no output', async () => {
    const { command, args, env, cwd } = commandFor({ b: fixture('big-results') });
    const weir = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'ignore'] });
    const send = (id: number, method: string, params: unknown): void =>
      void weir.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    send(1, 'initialize', hello);
    await once(weir.stdout, 'readable');
    send(2, 'tools/call', { name: 'b:big', arguments: { bytes: 3 * MB, size: 3 * MB } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    weir.kill('SIGTERM');
    const [code] = (await once(weir, 'exit')) as [number];
    expect(code).toBe(0);
  });
});

describe.concurrent('unusual first messages', () => {
  verifies('AGG-CALL-1', 'the gateway skips a byte order mark before the first message', async () => {
    await using weir = startWeir({ e: fixture('echo') });
    weir.send(`\uFEFF${JSON.stringify({ jsonrpc: '2.0', id: 'bom', method: 'initialize', params: hello })}`);
    expect((await weir.answer('bom')).result).toBeDefined();
  });

  verifies(
    'ERA-1',
    'the gateway refuses every request of a batch where the revision has no batches',
    async () => {
      await using weir = startWeir({ e: fixture('echo') });
      await weir.initialize();
      weir.send('[{"jsonrpc":"2.0","id":"x","method":"ping"},{"jsonrpc":"2.0","id":"y","method":"ping"}]');
      for (const id of ['x', 'y']) expect((await weir.answer(id)).error?.code).toBe(-32600);
    },
  );

  verifies(['ERA-1', 'ERA-4'], 'a client that has sent nothing gets no messages', async () => {
    const talker = scripted(`
      import { notify, serve, tool } from 'stdio';
      const capabilities = { tools: { listChanged: true }, logging: {} };
      serve({ name: 'talker', capabilities, on: { 'tools/list': () => {
        notify('notifications/message', { level: 'error', data: 'x' });
        notify('notifications/odd');
        return { tools: [tool('any')] };
      } } });`);
    await using weir = serveInProcess({ t: talker, e: fixture('echo') });
    await weir.gateway.allAttempted;
    const { result } = await weir.initialize();
    expect(result).toBeDefined();
    expect(weir.lines).toHaveLength(1);
  });

  verifies('AGG-CALL-3', 'the gateway refuses a cursor that is not a string', async () => {
    await using weir = startWeir({ e: fixture('echo') });
    await weir.tools();
    expect((await weir.request('tools/list', { cursor: 7 })).error?.code).toBe(-32602);
  });

  verifies('ERA-4', 'a server that ignores probes starts within a short time limit too', async () => {
    await using weir = startWeir({ s: { ...fixture('silent-to-probe'), startupTimeout: 1500 } });
    expect((await weir.tools()).length).toBeGreaterThan(0);
  });
});

verifies.slow('AGG-REG-3', 'every call of a flood during the start gets an answer', async () => {
  await using weir = serveInProcess({ slow: fixture('slow-start', '1500') });
  weir.send({ id: 'hello', method: 'initialize', params: hello });
  await weir.answer('hello');
  const text = 'x'.repeat(MB);
  for (let id = 0; id < 40; id++)
    weir.send({
      id: `flood ${id}`,
      method: 'tools/call',
      params: { name: 'slow:echo', arguments: { text } },
    });
  // All of it is answered in the end, one way or another: nothing is lost.
  for (let id = 0; id < 40; id++) await weir.answer(`flood ${id}`);
});
