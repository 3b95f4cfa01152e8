// The config file changes while the gateway runs: changed servers are started, stopped or restarted, and no other.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connectClient } from '../../support/clients.ts';
import {
  commandFor,
  fixture,
  scripted,
  serverWith,
  startWeir,
  temporaryFolder,
  textOf,
  Weir,
  type ServerEntry,
} from '../../support/harness.ts';
import { connectHttp, startServe } from '../../support/http.ts';
import { counted, createTestGateway, serveInProcess } from '../../support/in-process.ts';
import { isAlive, until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

type Servers = Record<string, ServerEntry>;

/** Returns its process id, and answers after `ms`. */
const slow = (label = 'slow'): ServerEntry =>
  scripted(`
    import { serve, text, tool } from 'stdio';
    serve({
      name: 'slow',
      tools: [tool('wait'), tool('pid')],
      call: {
        wait: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve(text('${label}')), ms)),
        pid: () => text(process.pid),
      },
    });
  `);

function rewrite(weir: Weir, servers: Servers): void {
  writeFileSync(join(weir.folder, 'mcp.json'), JSON.stringify({ mcpServers: servers }, null, 2));
}

/** As most editors save: a new file takes the place of the old one. */
function replace(weir: Weir, servers: Servers): void {
  const file = join(weir.folder, 'mcp.json');
  writeFileSync(`${file}.tmp`, JSON.stringify({ mcpServers: servers }, null, 2));
  renameSync(`${file}.tmp`, file);
}

function noticesOf(weir: { messages: readonly { method?: string }[] }): number {
  return weir.messages.filter(({ method }) => method === 'notifications/tools/list_changed').length;
}

/** Calls without a pause until `stop`, which resolves with all answers. */
function callOnAndOn(weir: Weir, name: string): { stop(): Promise<string[]> } {
  let isOver = false;
  const answers = (async () => {
    const texts: string[] = [];
    while (!isOver) {
      const answer = await weir.callTool(name);
      texts.push(answer.error?.message ?? textOf(answer));
    }
    return texts;
  })();
  return {
    stop() {
      isOver = true;
      return answers;
    },
  };
}

describe.concurrent('a config file that changes', () => {
  verifies.slow(
    'HEALTH-3',
    'a reload adds, removes and changes servers while calls of the others run on',
    async () => {
      const stays = slow();
      const before = { stays, leaves: serverWith(['a']), turns: serverWith(['b'], 'old') };
      await using weir = startWeir(before);
      expect(await weir.tools()).toEqual(['stays:wait', 'stays:pid', 'leaves:a', 'turns:b']);
      const pid = textOf(await weir.callTool('stays:pid'));
      const calls = callOnAndOn(weir, 'stays:pid');
      const long = weir.callTool('stays:wait', { ms: 3000 });

      replace(weir, {
        stays,
        turns: serverWith(['b'], 'new'),
        comes: serverWith(['c']),
        breaks: fixture('exit-at-start'),
      });
      await weir.says('Config reloaded; added: comes, breaks; changed: turns; removed: leaves');
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['stays:wait', 'stays:pid', 'turns:b', 'comes:c']);
      expect(textOf(await weir.callTool('turns:b'))).toBe('new: b');
      expect((await weir.callTool('leaves:a')).error?.message).toBe('Tool not found: leaves:a');
      await weir.says("Server 'breaks' is tried again in");
      rewrite(weir, { stays, turns: serverWith(['b'], 'new'), comes: serverWith(['c']) });
      await weir.says('Config reloaded; removed: breaks');

      expect(textOf(await long)).toBe('slow');
      const answers = await calls.stop();
      expect(answers.length).toBeGreaterThan(10);
      expect(new Set(answers)).toEqual(new Set([pid]));
    },
  );

  verifies('HEALTH-3', 'clients get one notice per list for a reload', async () => {
    const before = { a: serverWith(['one']), b: serverWith(['two']) };
    const weir = serveInProcess(before);
    await using _ = weir;
    await weir.tools();
    const after = { b: serverWith(['two', 'three']), c: serverWith(['four']) };
    expect(await weir.gateway.reload({ mcpServers: after })).toEqual({
      added: ['c'],
      removed: ['a'],
      changed: ['b'],
      adjusted: [],
    });
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['b:two', 'b:three', 'c:four']);
    expect(noticesOf(weir)).toBe(1);
    const none = { added: [], removed: [], changed: [], adjusted: [] };
    expect(await weir.gateway.reload({ mcpServers: after })).toEqual(none);
    expect(await weir.tools()).toEqual(['b:two', 'b:three', 'c:four']);
    expect(noticesOf(weir)).toBe(1);
  });

  verifies('HEALTH-3', 'a reload that only reorders servers reorders their lists', async () => {
    const [a, b] = [serverWith(['one']), serverWith(['two'])];
    const weir = serveInProcess({ a, b });
    await using _ = weir;
    expect(await weir.tools()).toEqual(['a:one', 'b:two']);
    await weir.gateway.reload({ mcpServers: { b, a } });
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['b:two', 'a:one']);
  });

  verifies(
    'HEALTH-3',
    'a disabled server whose entry changes stays disabled, and its calls say so',
    async () => {
      await using weir = serveInProcess({ a: fixture('echo'), b: fixture('echo') }, { keepGoing: true });
      await weir.tools();
      await weir.gateway.disable('a');
      await weir.gateway.reload({
        mcpServers: { a: { ...fixture('echo'), env: { NEW: '1' } }, b: fixture('echo') },
      });
      const { error } = await weir.callTool('a:echo', {});
      expect(error?.message).toContain('it is disabled; enable it');
      expect((await weir.callTool('nobody', {})).error?.message).not.toContain('start');
    },
  );

  verifies(
    ['HEALTH-3', 'HEALTH-5'],
    'a reload changes the timeout of a tool without a restart of its server',
    async () => {
      await using weir = serveInProcess({ slow: slow() });
      await weir.tools();
      const pid = textOf(await weir.callTool('slow:pid'));
      const limited = { slow: { ...slow(), tools: { wait: { timeout: 100 } } } };
      expect(await weir.gateway.reload({ mcpServers: limited })).toMatchObject({
        adjusted: ['slow'],
        changed: [],
      });
      expect((await weir.callTool('slow:wait', { ms: 5000 })).error?.message).toContain('"timeout"');
      expect(textOf(await weir.callTool('slow:pid'))).toBe(pid);
    },
  );

  verifies(
    ['HEALTH-3', 'HEALTH-5'],
    'a reload changes timeout and name of a server without a restart',
    async () => {
      const other = serverWith(['one']);
      await using weir = serveInProcess({ slow: slow(), other });
      await weir.tools();
      const pid = textOf(await weir.callTool('slow:pid'));
      const mcpServers = { slow: { ...slow(), timeout: 100, name: 'Sloth' }, other };
      expect(await weir.gateway.reload({ mcpServers })).toMatchObject({ adjusted: ['slow'], changed: [] });
      expect((await weir.callTool('slow:wait', { ms: 5000 })).error?.message).toContain('"timeout"');
      expect(weir.gateway.fronts.calls.askerOf('slow')).toBe('Sloth');
      expect(textOf(await weir.callTool('slow:pid'))).toBe(pid);
    },
  );

  verifies(
    'HEALTH-3',
    'an invalid config changes nothing, and the log says what is wrong and where',
    async () => {
      const { entry, starts } = counted(fixture('echo'));
      await using weir = startWeir({ e: entry });
      const tools = await weir.tools();
      writeFileSync(join(weir.folder, 'mcp.json'), '{ "mcpServers": { "e": ');
      await weir.says(/error Invalid JSON in \S+mcp\.json, line 1, column \d+/u);
      await weir.says('the gateway keeps the previous one');
      rewrite(weir, { e: { command: 'node', args: ['${NOT_SET_ANYWHERE}'] } });
      await weir.says('Missing environment variable(s): NOT_SET_ANYWHERE');
      unlinkSync(join(weir.folder, 'mcp.json'));
      await weir.says('Config file not found');
      rewrite(weir, { e: entry });
      await weir.says('Config reloaded; no server has changed');
      expect(await weir.tools()).toEqual(tools);
      expect(starts()).toBe(1);
      expect(noticesOf(weir)).toBe(0);
    },
  );

  verifies('HEALTH-3', 'a reload disables and enables servers', async () => {
    const a = serverWith(['a']);
    await using weir = startWeir({ a, b: serverWith(['b']) });
    await weir.tools();
    rewrite(weir, { a: { ...a, enabled: false }, b: serverWith(['b']) });
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['b:b']);
    rewrite(weir, { a: { ...a, enabled: true }, b: serverWith(['b']) });
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['a:a', 'b:b']);
  });

  verifies.slow(
    'HEALTH-3',
    'a reload drains removed and changed servers, then fails their calls',
    async () => {
      const weir = serveInProcess({ short: slow('done'), endless: slow(), e: fixture('echo') });
      await using _ = weir;
      await weir.tools();
      const short = weir.callTool('short:wait', { ms: 1000 });
      const endless = weir.callTool('endless:wait', { ms: 60_000 });
      await until(
        () => [...weir.gateway.children.values()].filter((child) => child.usage.inFlight > 0).length === 2,
      );
      const began = performance.now();
      await weir.gateway.reload({ mcpServers: { short: slow('other'), e: fixture('echo') } });
      expect(textOf(await short)).toBe('done');
      expect(textOf(await weir.callTool('short:wait', { ms: 0 }))).toBe('other');
      expect((await endless).error?.message).toBe("Server 'endless' was removed from the config");
      expect(performance.now() - began).toBeGreaterThan(4500);
      expect(performance.now() - began).toBeLessThan(15_000);
    },
  );

  verifies(
    ['HEALTH-3', 'ERA-2'],
    'a reload gives a session a new instance, which starts once the one of the old config has ended',
    async () => {
      const options = { lazy: true, configPath: join(temporaryFolder(), 'mcp.json') };
      const servers = { s: { ...slow(), sharing: 'per-session' as const }, e: fixture('echo') };
      const weir = serveInProcess(servers, options);
      await using _ = weir;
      await weir.tools();
      const before = textOf(await weir.callTool('s:pid'));
      const last = weir.callTool('s:wait', { ms: 1500 });
      await weir.gateway.reload({ mcpServers: { e: servers.e } });
      await weir.gateway.reload({ mcpServers: servers });
      const after = await weir.callTool('s:pid');
      expect(after.error?.message).toBeUndefined();
      expect(textOf(after)).not.toBe(before);
      expect(isAlive(Number(before))).toBe(false);
      expect(textOf(await last)).toBe('slow');
    },
  );

  verifies(
    ['HEALTH-3', 'ERA-2'],
    'a reload fails a call that waits for the start of a removed server',
    async () => {
      const { entry, starts } = counted(fixture('dual-era'));
      const gateway = createTestGateway({ b: entry, e: fixture('echo') });
      const { client } = connectClient(gateway, 'a');
      gateway.fronts.lifecycle.declareCapabilities('{}');
      await gateway.start();
      await client.initialize({ elicitation: {} });
      const call = client.callTool('b:who');
      await until(() => starts() === 2);
      await gateway.reload({ mcpServers: { e: fixture('echo') } });
      expect((await call).error?.message).toContain("Server 'b' is not running");
      await gateway.close();
    },
  );

  test('the gateway notices changes of a symbolic link and of its target', async () => {
    const folder = temporaryFolder();
    const [one, two] = [join(folder, 'one.json'), join(folder, 'two.json')];
    writeFileSync(one, JSON.stringify({ mcpServers: { a: serverWith(['a']) } }));
    writeFileSync(two, JSON.stringify({ mcpServers: { b: serverWith(['b']) } }));
    await using weir = startWeir({ a: serverWith(['a']) });
    await weir.tools();
    const file = join(weir.folder, 'mcp.json');
    symlinkSync(two, `${file}.link`);
    renameSync(`${file}.link`, file);
    await weir.says('added: b; removed: a');
    writeFileSync(two, JSON.stringify({ mcpServers: { c: serverWith(['c']) } }));
    await weir.says('added: c; removed: b');
  });
});

describe.concurrent('a reload on HTTP', () => {
  for (const era of ['legacy', 'modern'] as const)
    verifies(
      'HEALTH-3',
      `a ${era} HTTP client keeps its connection and gets the notice of a reload`,
      async () => {
        const folder = temporaryFolder();
        const config = (servers: Servers): string => JSON.stringify({ mcpServers: servers });
        const a = serverWith(['a']);
        await using served = await startServe({ a }, { folder });
        const changed: string[][] = [];
        const autoRefresh = {
          onChanged: (_: Error | null, tools: { name: string }[] | null) =>
            changed.push((tools ?? []).map(({ name }) => name)),
        };
        await using sdk = await connectHttp(served.url, era, {
          token: served.token,
          listChanged: { tools: autoRefresh },
        });
        expect((await sdk.client.listTools()).tools.map(({ name }) => name)).toEqual(['a__a']);
        writeFileSync(join(folder, 'mcp.json'), config({ a, b: serverWith(['b']) }));
        await until(() => changed.length > 0, 20_000);
        expect(changed).toEqual([['a__a', 'b__b']]);
        writeFileSync(join(folder, 'mcp.json'), 'no config');
        await until(() => served.stderr.includes('Invalid JSON'), 20_000);
        served.kill('SIGHUP');
        await until(() => served.stderr.split('Invalid JSON').length === 3, 20_000);
        expect(await sdk.client.callTool({ name: 'b__b', arguments: {} })).toMatchObject({
          content: [{ text: 'server: b' }],
        });
      },
    );
});

describe.concurrent('names at a reload', () => {
  verifies(
    ['HEALTH-3', 'AGG-SEP-4'],
    'a name stays with its server at a reload, and is free once that is removed',
    async () => {
      const [a, b] = [serverWith(['same'], 'a'), serverWith(['same'], 'b')];
      const weir = serveInProcess({ a }, { noPrefix: true });
      await using _ = weir;
      await weir.tools();
      await weir.gateway.reload({ mcpServers: { b, a } });
      expect(textOf(await weir.callTool('same'))).toBe('a: same');
      expect(weir.logged.join('\n')).toContain("Weir leaves out that of 'b'");
      await weir.gateway.reload({ mcpServers: { b } });
      expect(textOf(await weir.callTool('same'))).toBe('b: same');
      expect(weir.logged.join('\n')).toContain(
        "Name 'same' now belongs to server 'b'; server 'a', which had it, was removed",
      );
    },
  );
});

describe.concurrent('a config in a pipe', () => {
  const onUnix = verifies.skipIf(process.platform === 'win32' ? 'Windows has no such pipes' : undefined);

  onUnix('HEALTH-3', 'a config in a pipe is read once', async () => {
    const { command, args, env, cwd } = commandFor({ a: serverWith(['a']) });
    const [config, pipe] = [join(cwd, 'mcp.json'), join(cwd, 'pipe')];
    spawnSync('mkfifo', [pipe]);
    spawn('sh', ['-c', `cat '${config}' >'${pipe}'`]);
    const inPipe = args.map((arg) => (arg === config ? pipe : arg));
    await using weir = new Weir({ command, args: inPipe, env, cwd });
    expect(await weir.tools()).toEqual(['a:a']);
    weir.kill('SIGHUP');
    await weir.says('is not a file, so Weir cannot read it again');
    expect(textOf(await weir.callTool('a:a'))).toBe('server: a');
  });

  onUnix('HEALTH-3', 'a pipe that replaces the config file changes nothing', async () => {
    await using weir = startWeir({ a: serverWith(['a']) });
    await weir.tools();
    spawnSync('mkfifo', [join(weir.folder, 'pipe')]);
    renameSync(join(weir.folder, 'pipe'), join(weir.folder, 'mcp.json'));
    await weir.says('is not a file, so Weir cannot read it again');
    expect(textOf(await weir.callTool('a:a'))).toBe('server: a');
    weir.kill('SIGTERM');
    expect((await weir.ended).code).toBe(0);
  });
});

describe.concurrent('SIGHUP', () => {
  const onUnix = verifies.skipIf(process.platform === 'win32' ? 'Windows has no such signal' : undefined);

  onUnix('HEALTH-3', 'SIGHUP reloads the config and does not end the gateway', async () => {
    await using weir = startWeir({ a: serverWith(['a']) });
    await weir.tools();
    weir.kill('SIGHUP');
    await weir.says('Config reloaded; no server has changed');
    expect(await weir.tools()).toEqual(['a:a']);
    weir.kill('SIGTERM');
    expect((await weir.ended).code).toBe(0);
  });

  const onTerminal = verifies.skipIf(
    hasScript ? undefined : 'needs the command script, which makes a terminal',
  );

  onTerminal('HEALTH-3', 'SIGHUP ends the gateway where stdin is a terminal', async () => {
    const { command, args, env, cwd } = commandFor({ a: serverWith(['a']) }, { args: ['--debug'] });
    const line = [command, ...args].map((word) => `'${word}'`).join(' ');
    const terminal = spawn('script', ['-qec', `exec ${line} >'${cwd}/out' 2>'${cwd}/err'`, '/dev/null'], {
      env,
      cwd,
    });
    const code = new Promise((resolve) => terminal.once('close', resolve));
    const said = (): string => (existsSync(join(cwd, 'err')) ? readFileSync(join(cwd, 'err'), 'utf8') : '');
    await until(() => said().includes('debug [a] ready after'), 20_000);
    const children = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8');
    process.kill(Number(children), 'SIGHUP');
    expect(await code).toBe(0);
    expect(said()).not.toContain('read again');
  });
});
