// Commands of the owner to running gateways, through a socket that only the owner can use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { GatewayReport } from '@weir/gateway';
import { describe, expect } from 'vitest';
import {
  bin,
  fixture,
  runWeir,
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type Config,
  type Ended,
  type Weir,
} from '../../support/harness.ts';
import { startServe } from '../../support/http.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const onUnix = verifies.skipIf(process.platform === 'win32' ? 'sockets of files are for Unix' : undefined);

/** A user's machine: a runtime folder, and commands that use it. */
class Machine {
  readonly folder = temporaryFolder();
  readonly state = join(this.folder, 'state');
  readonly run = join(this.folder, 'run');
  readonly env: Record<string, string> = { XDG_RUNTIME_DIR: this.run };

  constructor() {
    mkdirSync(this.run);
  }

  get sockets(): string[] {
    const folder = join(this.run, 'weir');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  /** Starts a gateway that can be spoken to. */
  async start(servers: Config, file = 'mcp.json'): Promise<Weir> {
    const weir = startWeir(servers, { folder: this.folder, env: this.env, file });
    await weir.tools();
    await until(() => this.sockets.includes(`${weir.pid}.sock`), 10_000);
    return weir;
  }

  weir(...args: string[]): Promise<Ended> {
    return runWeir([...args, '--state', this.state], { folder: this.folder, env: this.env });
  }

  async ps(...args: string[]): Promise<GatewayReport[]> {
    const { stdout, stderr } = await this.weir('ps', '--json', ...args);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as GatewayReport[];
  }
}

describe.concurrent('one gateway', () => {
  verifies(['HEALTH-3', 'HEALTH-8'], 'weir ps shows a gateway and its servers', async () => {
    const machine = new Machine();
    await using weir = await machine.start({
      e: fixture('echo'),
      far: { url: 'http://me:secret@127.0.0.1:1/mcp?token=secret', enabled: false },
    });
    const [report, ...others] = await machine.ps();
    expect(others).toEqual([]);
    expect(report).toMatchObject({
      pid: weir.pid,
      mode: 'stdio',
      configPath: join(machine.folder, 'mcp.json'),
      isStopped: false,
      servers: [
        {
          id: 'e',
          name: 'e',
          transport: 'stdio',
          enabled: true,
          failureCount: 0,
          autoDisabled: false,
          sectionBindings: [],
          tools: 8,
          health: { serverId: 'e', connectionState: 'connected', consecutiveFailures: 0 },
        },
        { id: 'far', transport: 'streamable-http', deploymentType: 'external', enabled: false, tools: 0 },
      ],
    });
    expect(JSON.stringify(report)).not.toContain('secret');
    const { stdout } = await machine.weir('ps');
    expect(stdout).toMatch(new RegExp(`^Gateway ${weir.pid}, stdio, .*mcp\\.json, up \\d`, 'u'));
    expect(stdout).toMatch(/^ {2}SERVER +STATE +TOOLS +PING$/mu);
    expect(stdout).toMatch(/^ {2}e {7}connected {6}8/mu);
    expect(stdout).toMatch(/^ {2}far {5}off in config {2}0/mu);
  });

  verifies('HEALTH-8', 'weir ps --json shows the section bindings of entries and of the config', async () => {
    const machine = new Machine();
    const heading = { sectionType: 'heading', headingText: '## Tools', documentPath: 'a/*.md' };
    const range = { sectionType: 'range', startLine: 1, endLine: 9, inheritToChildren: false };
    const config = {
      mcpServers: { e: { ...fixture('echo'), sectionBindings: [heading] }, s: fixture('stall') },
      sectionBindings: [
        { ...range, serverId: 's' },
        { ...range, serverId: 'e' },
      ],
    };
    await using _ = await machine.start(JSON.stringify(config));
    const [report] = await machine.ps();
    expect(report?.servers.map(({ id, sectionBindings }) => [id, sectionBindings])).toEqual([
      [
        'e',
        [
          { ...heading, serverId: 'e', inheritToChildren: true },
          { ...range, serverId: 'e' },
        ],
      ],
      ['s', [{ ...range, serverId: 's' }]],
    ]);
  });

  verifies('HEALTH-3', 'weir ps answers while a server still starts', async () => {
    const machine = new Machine();
    const servers = { s: { ...fixture('silent'), startupTimeout: 30_000 }, e: fixture('echo') };
    await using weir = startWeir(servers, { folder: machine.folder, env: machine.env });
    await until(() => machine.sockets.includes(`${weir.pid}.sock`), 10_000);
    const [report] = await machine.ps();
    expect(report?.servers[0]).toMatchObject({ id: 's', health: { connectionState: 'connecting' } });
  });

  verifies(
    'HEALTH-3',
    'weir disable, enable and restart take effect, and the client sees the tools change',
    async () => {
      const machine = new Machine();
      await using weir = await machine.start({ a: fixture('crash'), e: fixture('echo') });
      const before = await weir.tools();
      const disabled = await machine.weir('disable', 'a');
      expect(disabled).toMatchObject({ code: 0, stderr: '' });
      expect(disabled.stdout).toBe(`Server 'a' is disabled until weir enable a (gateway ${weir.pid}).\n`);
      await weir.call('notifications/tools/list_changed');
      expect((await weir.tools()).filter((name) => name.startsWith('a:'))).toEqual([]);
      expect((await machine.weir('ps')).stdout).toMatch(/^ {2}a {7}disabled +0$/mu);
      expect((await machine.weir('enable', 'a')).stdout).toBe(
        `Server 'a' is enabled (gateway ${weir.pid}).\n`,
      );
      expect(await weir.tools()).toEqual(before);
      const pid = textOf(await weir.callTool('a:pid'));
      expect((await machine.weir('restart', 'a')).code).toBe(0);
      expect(textOf(await weir.callTool('a:pid'))).not.toBe(pid);
    },
  );

  verifies(
    'HEALTH-3',
    'every command that takes a server names the nearest and all known ones for an unknown one',
    async () => {
      const machine = new Machine();
      await using _ = await machine.start({ files: fixture('echo'), notes: fixture('echo') });
      for (const command of [['enable'], ['disable'], ['restart'], ['logs'], ['history', '--server']]) {
        const ask = (server: string): Promise<Ended> => machine.weir(...command, server);
        const known = 'Known servers: files, notes.\n';
        expect({ command, ...(await ask('flies')) }).toMatchObject({
          command,
          code: 1,
          stdout: '',
          stderr: `No gateway has a server 'flies' (did you mean 'files'?). ${known}`,
        });
        expect((await ask('x')).stderr).toBe(`No gateway has a server 'x'. ${known}`);
      }
    },
  );

  verifies('HEALTH-3', 'weir disable fails where the change cannot be stored', async () => {
    const machine = new Machine();
    mkdirSync(machine.state);
    writeFileSync(join(machine.state, 'servers'), '');
    await using weir = await machine.start({ e: fixture('echo') });
    const disabled = await machine.weir('disable', 'e');
    expect(disabled).toMatchObject({ code: 1, stdout: '' });
    expect(disabled.stderr).toMatch(
      /^Server 'e' was changed, but Weir could not save that, so it lasts only until the gateway stops: /u,
    );
    expect(await weir.tools()).toEqual([]);
  });

  verifies('HEALTH-3', 'weir restart fails with the reason where a server does not start again', async () => {
    const machine = new Machine();
    const broken = join(machine.folder, 'broken');
    const entry = scripted(`
      import { existsSync } from 'node:fs';
      import { serve } from 'stdio';
      if (existsSync(${JSON.stringify(broken)})) process.exit(5);
      serve({ name: 'brittle' });
    `);
    await using weir = await machine.start({ b: entry });
    writeFileSync(broken, '');
    const restarted = await machine.weir('restart', 'b');
    expect(restarted).toMatchObject({ code: 1, stdout: '' });
    expect(restarted.stderr).toMatch(
      new RegExp(`^Server 'b' was stopped and did not start again \\(gateway ${weir.pid}\\): .*code 5`, 'u'),
    );
  });

  verifies('HEALTH-5', 'weir pause stops calls and weir resume lets them pass', async () => {
    const machine = new Machine();
    await using weir = await machine.start({ s: fixture('stall') });
    const stalled = weir.callTool('s:stall');
    expect((await machine.weir('pause')).stdout).toBe(
      `Calls are paused until weir resume (gateway ${weir.pid}).\n`,
    );
    expect((await stalled).error?.message).toContain('"mcp-simple-aggregator resume"');
    const refused = await weir.callTool('s:echo', { text: 'x' });
    expect(refused.error?.message).toContain('"mcp-simple-aggregator resume"');
    expect((await machine.ps())[0]?.isStopped).toBe(true);
    expect((await machine.weir('ps')).stdout).toContain('calls are paused: weir resume');
    expect((await machine.weir('resume')).code).toBe(0);
    expect(textOf(await weir.callTool('s:echo', { text: 'x' }))).toBe('x');
  });

  verifies('HEALTH-3', 'weir logs shows the stderr of a server, also from before a crash', async () => {
    const machine = new Machine();
    await using weir = await machine.start({ a: fixture('crash') });
    await weir.callTool('a:crash');
    await weir.call('notifications/tools/list_changed');
    expect((await machine.weir('logs', 'a')).stdout).toMatch(
      /^[-\d]{10} [:\d]{8} {2}crash: the tool crash was called$/mu,
    );
    const unknown = await machine.weir('logs', 'b');
    expect(unknown).toMatchObject({ code: 1, stderr: "No gateway has a server 'b'. Known servers: a.\n" });
  });

  verifies('HEALTH-5', 'weir stop ends a gateway on stdio after its calls', async () => {
    const machine = new Machine();
    await using weir = await machine.start({ a: fixture('crash') });
    const call = weir.callTool('a:slow', { ms: 300 });
    const stopped = await machine.weir('stop');
    expect(stopped).toMatchObject({ code: 0, stderr: '' });
    expect(stopped.stdout).toBe(
      `Gateway ${weir.pid} has stopped (stdio, ${join(machine.folder, 'mcp.json')}).\n`,
    );
    expect(textOf(await call)).toBe('waited 300');
    expect(await weir.ended).toMatchObject({ code: 0 });
    expect(machine.sockets).toEqual([]);
    expect((await machine.weir('stop')).stderr).toMatch(/^No gateway is running\./u);
  });

  verifies('HEALTH-5', 'weir stop ends a gateway on HTTP', async () => {
    const machine = new Machine();
    await using serve = await startServe(
      { a: fixture('crash') },
      { folder: machine.folder, env: machine.env },
    );
    await until(() => machine.sockets.length === 1, 10_000);
    const { stdout } = await machine.weir('stop', '--json');
    expect(JSON.parse(stdout)).toEqual({ pid: serve.pid, done: 'stop' });
    expect(await serve.ended).toMatchObject({ code: 0 });
  });

  onUnix('HEALTH-5', 'weir names an older gateway that does not know a command', async () => {
    const machine = new Machine();
    mkdirSync(join(machine.run, 'weir'));
    const report = {
      pid: process.pid,
      version: '0.0.9',
      mode: 'stdio',
      startedAt: 0,
      calls: {},
      servers: [],
    };
    const older = createServer((socket) =>
      socket.on('data', (data) => {
        const { method } = JSON.parse(String(data)) as { method: string };
        const error = { message: `A gateway of version 0.0.9 does not know '${method}'` };
        socket.write(`${JSON.stringify(method === 'ps' ? { id: 1, result: report } : { id: 1, error })}\n`);
      }),
    ).listen(join(machine.run, 'weir', `${process.pid}.sock`));
    await once(older, 'listening');
    for (const action of ['pause', 'stop'])
      expect(await machine.weir(action)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^A gateway of version 0\.0\.9 does not know '\w+'\. Gateway \d+ is older than this command: stop it with its host or with Ctrl-C, and start it again\.\n$/u,
        ) as string,
      });
    older.close();
  });

  verifies(
    'HEALTH-3',
    'weir ps shows the address of a gateway on HTTP, and its token only with --token',
    async () => {
      const machine = new Machine();
      await using serve = await startServe(
        { e: fixture('echo') },
        { folder: machine.folder, env: machine.env },
      );
      await until(() => machine.sockets.length === 1, 10_000);
      const { stdout } = await machine.weir('ps');
      expect(stdout).toContain(`Gateway ${serve.pid}, http at ${serve.url}, `);
      expect(stdout).not.toContain(serve.token);
      const [report] = await machine.ps();
      expect(report).toMatchObject({ url: serve.url });
      expect(report).not.toHaveProperty('token');
      expect((await machine.weir('ps', '--token')).stdout).toContain(
        `http at ${serve.url}, token=${serve.token}, `,
      );
      expect(await machine.ps('--token')).toMatchObject([{ token: serve.token }]);
    },
  );

  verifies('HEALTH-3', 'weir ps shows a gateway on HTTP with its servers', async () => {
    const machine = new Machine();
    await using serve = await startServe(
      { e: fixture('echo') },
      { folder: machine.folder, env: machine.env },
    );
    await until(() => machine.sockets.length === 1, 10_000);
    expect(await machine.ps()).toMatchObject([{ mode: 'http', servers: [{ id: 'e' }] }]);
    expect(serve.url).toContain('http');
  });
});

describe.concurrent('several gateways', () => {
  verifies('HEALTH-3', 'weir ps shows all gateways; other commands need a choice of one', async () => {
    const machine = new Machine();
    await using one = await machine.start({ e: fixture('echo') });
    await using two = await machine.start({ e: fixture('echo') }, 'other.json');
    expect(new Set((await machine.ps()).map(({ pid }) => pid))).toEqual(new Set([one.pid, two.pid]));
    const unclear = await machine.weir('disable', 'e');
    expect(unclear).toMatchObject({ code: 2, stdout: '' });
    expect(unclear.stderr).toContain('2 gateways are running. Choose one for weir disable');
    for (const { pid } of [one, two]) expect(unclear.stderr).toContain(`--pid ${pid}`);
    expect((await machine.weir('disable', 'e', '--pid', String(one.pid))).code).toBe(0);
    expect((await machine.weir('restart', 'e', '--config', 'other.json')).code).toBe(0);
    const states = (await machine.ps()).map(({ pid, servers }) => [pid, servers[0]?.enabled]);
    expect(Object.fromEntries(states)).toEqual({ [one.pid]: false, [two.pid]: true });
    expect((await machine.weir('stop', '--pid', '1')).stderr).toContain('No gateway has the process id 1.');
    expect(await machine.weir('stop')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('2 gateways are running. Choose one for weir stop') as string,
    });
    expect((await machine.weir('stop', '--pid', String(one.pid))).code).toBe(0);
    expect((await machine.ps()).map(({ pid }) => pid)).toEqual([two.pid]);
  });

  verifies(
    'HEALTH-3',
    'weir disable --config changes all gateways over a config, with one JSON line each',
    async () => {
      const machine = new Machine();
      await using one = await machine.start({ e: fixture('echo') });
      await using two = await machine.start({ e: fixture('echo') });
      const file = join(machine.folder, 'mcp.json');
      const { stdout } = await machine.weir('disable', 'e', '--json', '--config', file);
      const told = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { pid: number });
      expect(new Set(told.map(({ pid }) => pid))).toEqual(new Set([one.pid, two.pid]));
    },
  );
});

describe.concurrent('the control socket', () => {
  onUnix('HEALTH-3', 'only its owner can use the control socket, and it ends with its gateway', async () => {
    const machine = new Machine();
    mkdirSync(join(machine.run, 'weir'));
    chmodSync(join(machine.run, 'weir'), 0o755);
    const weir = await machine.start({ e: fixture('echo') });
    const modes = [join(machine.run, 'weir'), join(machine.run, 'weir', `${weir.pid}.sock`)].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(['700', '600']);
    await weir.close();
    expect(machine.sockets).toEqual([]);
  });

  onUnix('HEALTH-3', 'weir removes the control socket of a killed gateway', async () => {
    const machine = new Machine();
    const weir = await machine.start({ e: fixture('echo') });
    weir.kill('SIGKILL');
    await weir.ended;
    expect(machine.sockets).toEqual([`${weir.pid}.sock`]);
    await using next = await machine.start({ e: fixture('echo') });
    expect(machine.sockets).toEqual([`${next.pid}.sock`]);
    next.kill('SIGKILL');
    await next.ended;
    const none = await machine.weir('ps');
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toMatch(/^No gateway is running\. .*weir serve --config FILE/u);
    expect(await machine.weir('ps', '--json')).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' });
    expect(machine.sockets).toEqual([]);
  });

  onUnix(
    'HEALTH-3',
    'the control socket is in the state folder where there is no runtime folder',
    async () => {
      const folder = temporaryFolder();
      await using weir = startWeir({ e: fixture('echo') }, { folder });
      await weir.tools();
      await until(() => existsSync(join(folder, 'state', 'run', `${weir.pid}.sock`)), 10_000);
      // The command has a runtime folder, as terminals do.
      const { stdout } = await runWeir(['ps', '--state', join(folder, 'state')], {
        folder,
        env: { XDG_RUNTIME_DIR: folder },
      });
      expect(stdout).toContain(`Gateway ${weir.pid}`);
    },
  );

  onUnix(
    'HEALTH-3',
    'the control socket is in the state folder where the runtime folder cannot be used',
    async () => {
      const machine = new Machine();
      const deep = join(machine.folder, 'x'.repeat(100));
      mkdirSync(deep);
      writeFileSync(join(machine.run, 'weir'), '');
      for (const runtime of [deep, machine.run]) {
        const env = { XDG_RUNTIME_DIR: runtime };
        await using weir = startWeir({ e: fixture('echo') }, { folder: machine.folder, env });
        await weir.tools();
        await until(() => existsSync(join(machine.state, 'run', `${weir.pid}.sock`)), 10_000);
      }
    },
  );

  onUnix('HEALTH-3', 'the control socket closes invalid connections, and the gateway runs on', async () => {
    const machine = new Machine();
    await using weir = await machine.start({ e: fixture('echo') });
    const path = join(machine.run, 'weir', `${weir.pid}.sock`);
    for (const nonsense of [
      'GET / HTTP/1.1\r\n\r\n',
      `"${'x'.repeat(200_000)}`,
      'null\n',
      '{"id":1,"method":"toString"}\n',
    ])
      await new Promise<void>((resolve) => {
        const socket = connect(path, () => socket.write(nonsense));
        socket.on('error', () => {}).on('data', () => socket.end());
        socket.once('close', () => resolve());
      });
    expect(textOf(await weir.callTool('e:echo', { text: 'well' }))).toBe('well');
    expect(await machine.ps()).toHaveLength(1);
  });

  onUnix.slow('HEALTH-3', 'weir ps shows other gateways although one is suspended', async () => {
    const machine = new Machine();
    await using one = await machine.start({ e: fixture('echo') });
    await using two = await machine.start({ e: fixture('echo') }, 'other.json');
    one.kill('SIGSTOP');
    const { code, stdout } = await machine.weir('ps');
    one.kill('SIGCONT');
    expect(code).toBe(0);
    expect(stdout).toContain(`Gateway ${one.pid} does not answer`);
    expect(stdout).toContain(`Gateway ${two.pid}, stdio`);
  });

  onUnix.slow('HEALTH-3', 'a suspended gateway does not run commands later that have timed out', async () => {
    const machine = new Machine();
    await using weir = await machine.start({ e: fixture('echo') });
    weir.kill('SIGSTOP');
    const [disabled, stopped] = await Promise.all([machine.weir('disable', 'e'), machine.weir('stop')]);
    const [logs, history] = await Promise.all([
      machine.weir('logs', 'e'),
      machine.weir('history', '--pid', String(weir.pid)),
    ]);
    weir.kill('SIGCONT');
    for (const { code, stderr } of [disabled, stopped, logs, history])
      expect([code, stderr]).toEqual([
        1,
        `Gateway ${weir.pid} does not answer: it is suspended or overloaded.\n`,
      ]);
    expect(await machine.ps()).toMatchObject([{ isStopped: false, servers: [{ enabled: true }] }]);
  });

  onUnix('HEALTH-3', 'Ctrl-C ends weir ps while a gateway does not answer', async () => {
    const machine = new Machine();
    mkdirSync(join(machine.run, 'weir'));
    let asked: () => void;
    const asking = new Promise<void>((resolve) => (asked = resolve));
    const silent = createServer(() => asked()).listen(join(machine.run, 'weir', `${process.pid}.sock`));
    const ps = spawn(process.execPath, [bin('weir'), 'ps'], { env: { ...process.env, ...machine.env } });
    await asking;
    ps.kill('SIGINT');
    expect(await once(ps, 'exit')).toEqual([null, 'SIGINT']);
    silent.close();
  });

  onUnix('HEALTH-3', 'a control socket that cannot be opened causes a warning only', async () => {
    const machine = new Machine();
    writeFileSync(join(machine.run, 'weir'), '');
    mkdirSync(machine.state);
    writeFileSync(join(machine.state, 'run'), '');
    await using weir = startWeir({ e: fixture('echo') }, { folder: machine.folder, env: machine.env });
    await weir.tools();
    await weir.says('"mcp-simple-aggregator ps" will not find this gateway');
    expect(textOf(await weir.callTool('e:echo', { text: 'well' }))).toBe('well');
  });
});

describe.concurrent('the command line of control commands', () => {
  verifies('HEALTH-3', 'wrong usage of control commands exits with 2 and the reason', async () => {
    const machine = new Machine();
    const mistakes: [string[], string][] = [
      [['enable'], 'weir enable needs the name of a server'],
      [['ps', 'x'], 'Unexpected argument: x'],
      [['ps', '--json=x'], '--json takes no value'],
      [['ps', '--follow'], 'Unknown option: --follow (it belongs to weir history'],
      [['history', '--nonsense'], 'Unknown option: --nonsense'],
      [['stop', '--pid', 'x'], "--pid takes a whole number from 1 on, not 'x'"],
    ];
    for (const [args, text] of mistakes) {
      const { code, stderr } = await machine.weir(...args);
      expect([code, stderr.split('\n')[0]]).toEqual([2, expect.stringContaining(text)]);
    }
    const help = await machine.weir('ps', '--help');
    expect(help.code).toBe(0);
    expect(help.stdout.split('\n').every((line) => line.length < 80)).toBe(true);
    expect(help.stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(23);
  });
});
