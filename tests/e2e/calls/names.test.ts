// Names under which tools are listed, and names that calls may use.
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  runWeir,
  serverWith,
  startWeir,
  temporaryFolder,
  textOf,
  type Json,
  type Received,
} from '../../support/harness.ts';
import { eventually, modern, openSession, send, serveTest } from '../../support/http.ts';
import { counted, serveInProcess } from '../../support/in-process.ts';
import type { LineClient } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

const HOST_SAFE = /^[A-Za-z0-9_-]{1,64}$/u;

async function reaches(weir: LineClient, name: string): Promise<string> {
  const answer = await weir.callTool(name);
  return answer.error?.message ?? textOf(answer);
}

function refusal({ error }: Received): { code: number | undefined; message: string | undefined } {
  return { code: error?.code, message: error?.message };
}

describe('the separator', () => {
  verifies(
    ['AGG-SEP-1', 'AGG-REG-1'],
    'public names have a colon between key and tool by default',
    async () => {
      await using weir = startWeir({ files: serverWith(['read', 'write']), git: serverWith(['log'], 'git') });
      expect(await weir.tools()).toEqual(['files:read', 'files:write', 'git:log']);
      expect(await reaches(weir, 'git:log')).toBe('git: log');
    },
  );

  for (const separator of ['__', '--', '-', '::', '.', '/', '→', '🌊', '=', '--debug', '"', '\\']) {
    verifies('AGG-SEP-1', `the separator may be ${separator}`, async () => {
      for (const args of [['--separator', separator], [`--separator=${separator}`]]) {
        await using weir = startWeir(
          { files: serverWith(['read']), git: serverWith(['log'], 'git') },
          { args },
        );
        expect(await weir.tools()).toEqual([`files${separator}read`, `git${separator}log`]);
        expect(await reaches(weir, `git${separator}log`)).toBe('git: log');
      }
    });
  }

  verifies('AGG-SEP-2', 'the separator may be part of keys and tool names', async () => {
    const config = {
      a: serverWith(['x:y', 'b', ':', 'c:'], 'a'),
      'a:b': serverWith(['c', 'd:e'], 'a:b'),
      ':': serverWith(['z'], 'colon'),
    };
    await using weir = startWeir(config);
    const names = ['a:x:y', 'a:b', 'a::', 'a:c:', 'a:b:c', 'a:b:d:e', '::z'];
    expect(await weir.tools()).toEqual(names);
    const reached = await Promise.all(names.map((name) => reaches(weir, name)));
    expect(reached).toEqual(['a: x:y', 'a: b', 'a: :', 'a: c:', 'a:b: c', 'a:b: d:e', 'colon: z']);
  });

  verifies('AGG-REG-1', 'the separator joins names of prompts', async () => {
    await using weir = startWeir({ words: fixture('no-tools') }, { args: ['--separator', '__'] });
    await weir.initialize();
    expect((await weir.request('prompts/list')).result).toMatchObject({
      prompts: [{ name: 'words__greet' }],
    });
    for (const name of ['words__greet', 'words:greet', 'greet']) {
      expect((await weir.request('prompts/get', { name })).result).toHaveProperty('messages');
    }
    expect(refusal(await weir.request('prompts/get', { name: 'words__none' }))).toEqual({
      code: -32602,
      message: 'Prompt not found: words__none',
    });
  });

  verifies('AGG-REG-1', 'the gateway lists the first of two equal names of a server', async () => {
    await using weir = startWeir({ twins: serverWith(['twin', 'other', 'twin']) });
    expect(await weir.tools()).toEqual(['twins:twin', 'twins:other']);
    await weir.says(/warn \[twins\] lists "twin" twice among its tools; Weir keeps the first one/u);
  });
});

describe('other spellings', () => {
  verifies('AGG-SEP-3', 'names with any usual separator, or none, reach the tool', async () => {
    const config = { files: serverWith(['read.all'], 'files'), git: serverWith(['log'], 'git') };
    for (const args of [[], ['--separator', '__'], ['--separator', '→'], ['--no-prefix']]) {
      await using weir = startWeir(config, { args });
      await weir.initialize();
      for (const name of [
        'files:read.all',
        'files__read.all',
        'files.read.all',
        'files/read.all',
        'read.all',
      ]) {
        expect(await reaches(weir, name)).toBe('files: read.all');
      }
    }
  });

  verifies('AGG-SEP-3', 'the gateway refuses a name that means two tools, and names both', async () => {
    await using weir = startWeir({
      one: serverWith(['read'], 'one'),
      two: serverWith(['read', 'own'], 'two'),
    });
    await weir.initialize();
    expect(await reaches(weir, 'two__read')).toBe('two: read');
    expect(await reaches(weir, 'own')).toBe('two: own');
    expect(refusal(await weir.callTool('read'))).toEqual({
      code: -32602,
      message: 'Tool not found: read may mean one:read or two:read; use the full name',
    });
  });

  verifies(
    'AGG-SEP-3',
    'the gateway refuses a name that is ambiguous because a key contains a separator',
    async () => {
      await using weir = startWeir({ a: serverWith(['b__c'], 'a'), a__b: serverWith(['c'], 'a__b') });
      expect(await weir.tools()).toEqual(['a:b__c', 'a__b:c']);
      expect(await reaches(weir, 'a__b__c')).toBe(
        'Tool not found: a__b__c may mean a:b__c or a__b:c; use the full name',
      );
    },
  );

  verifies('AGG-SEP-3', 'another spelling never wins over a listed name', async () => {
    await using weir = startWeir({ a: serverWith(['b'], 'a'), z: serverWith(['a:b'], 'z') });
    await weir.initialize();
    expect(await reaches(weir, 'a:b')).toBe('a: b');
    expect(await reaches(weir, 'z__a:b')).toBe('z: a:b');
  });

  verifies(['AGG-SEP-3', 'AGG-CHILD-4'], 'calls of a crashed server never reach another server', async () => {
    const servers = { db: fixture('crash'), other: serverWith(['slow'], 'other') };
    await using weir = serveInProcess(servers, { supervision: { backOffMs: [60_000] } });
    await weir.initialize();
    await weir.callTool('db:crash');
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['other:slow']);
    expect(await reaches(weir, 'slow')).toBe(
      'Tool not found: slow may mean db:slow or other:slow; use the full name',
    );
    const why = "(its server 'db' is not running; it is tried again in";
    expect(await reaches(weir, 'db:pid')).toContain(`Tool not found: db:pid ${why}`);
    expect(await reaches(weir, 'pid')).toContain(`Tool not found: pid ${why}`);
  });
});

describe('a name that leads nowhere', () => {
  verifies('AGG-CALL-2', 'an unknown name is an error "Tool not found"', async () => {
    await using weir = startWeir({ files: serverWith(['read']) });
    await weir.initialize();
    for (const name of ['files:none', 'none:read', 'none.read:x', 'files:read ']) {
      expect(refusal(await weir.callTool(name))).toEqual({
        code: -32602,
        message: `Tool not found: ${name}`,
      });
    }
  });

  verifies('AGG-CALL-2', 'the error for a name in a wrong format shows the right format', async () => {
    for (const [args, format] of [
      [[], 'serverKey:toolName'],
      [['--separator', '__'], 'serverKey__toolName'],
    ] as const) {
      await using weir = startWeir({ files: serverWith(['read']) }, { args });
      await weir.initialize();
      expect(refusal(await weir.callTool('none'))).toEqual({
        code: -32602,
        message: `Invalid tool name format. Expected '${format}', got 'none'`,
      });
    }
  });

  verifies(
    ['AGG-CALL-2', 'AGG-SEP-4'],
    'an unknown name with --no-prefix is an error without a format',
    async () => {
      const config = { files: serverWith(['read']), git: serverWith(['log']) };
      await using weir = startWeir(config, { args: ['--no-prefix'] });
      await weir.initialize();
      expect(refusal(await weir.callTool('none'))).toEqual({ code: -32602, message: 'Tool not found: none' });
    },
  );

  verifies('AGG-CALL-2', 'tools/call fails without a name that is a string', async () => {
    await using weir = startWeir({ files: serverWith(['read']) });
    await weir.initialize();
    for (const params of [{}, { name: 7 }, { name: null }, { name: ['files:read'] }]) {
      const answer = await weir.request('tools/call', params);
      expect(refusal(answer)).toEqual({
        code: -32602,
        message: 'tools/call needs a "name" that is a string',
      });
    }
    expect(refusal(await weir.callTool(''))).toMatchObject({ code: -32602 });
  });
});

describe('--no-prefix', () => {
  verifies(['AGG-SEP-4', 'AGG-CALL-2'], '--no-prefix passes unlisted names to an only server', async () => {
    const { entry, starts } = counted(fixture('unlisted-items'));
    const folder = temporaryFolder();
    {
      await using weir = startWeir({ h: entry }, { args: ['--no-prefix'], folder });
      await weir.initialize();
      expect(textOf(await weir.callTool('hidden'))).toBe('found');
      expect((await weir.request('prompts/get', { name: 'hidden' })).result).toEqual({ messages: [] });
      expect(refusal(await weir.callTool('none'))).toEqual({ code: -32602, message: 'Unknown tool: none' });
      expect(refusal(await weir.request('prompts/get', { name: 'none' }))).toEqual({
        code: -32007,
        message: 'no such prompt',
      });
      const long = 'x'.repeat(1000);
      expect(refusal(await weir.callTool(long)).message).toMatch(/^Tool not found: x{200}…$/u);
    }
    {
      await using weir = startWeir({ h: entry }, { args: ['--no-prefix', '--lazy'], folder });
      await weir.tools();
      await weir.callTool('listed');
      expect(starts()).toBe(2);
    }
    await using weir = startWeir({ h: entry }, { args: ['--no-prefix', '--lazy'], folder });
    expect(await weir.tools()).toEqual(['listed']);
    expect(refusal(await weir.callTool('hidden'))).toEqual({
      code: -32602,
      message: 'Tool not found: hidden',
    });
    expect(starts()).toBe(2);
  });

  verifies('AGG-CALL-2', 'calls of a stopped only server fail with its state', async () => {
    await using http = await serveTest({ h: fixture('unlisted-items') }, { noPrefix: true });
    await http.gateway.disable('h');
    const session = await openSession(http.url);
    const { json } = await session.post(session.call('hidden'));
    expect(json.error).toEqual({ code: -32602, message: 'Tool not found: hidden' });
    const { json: listed } = await session.post(session.call('listed'));
    expect(listed.error?.message).toMatch(/^Tool not found: listed \(its server 'h' is not running/u);
  });

  verifies('AGG-SEP-4', '--no-prefix lists names as the servers write them', async () => {
    const config = { files: serverWith(['read', 'x:y'], 'files'), git: serverWith(['log'], 'git') };
    await using weir = startWeir(config, { args: ['--no-prefix'] });
    expect(await weir.tools()).toEqual(['read', 'x:y', 'log']);
    expect(await reaches(weir, 'x:y')).toBe('files: x:y');
    expect(await reaches(weir, 'log')).toBe('git: log');
  });
});

describe('with a separator that hosts accept', () => {
  const safely = { args: ['--separator', '__'] };
  const long = 'a_tool_with_a_name_that_goes_on_and_on_until_no_host_can_stand_it';

  verifies('AGG-SEP-3', 'long names are shortened to unique ones', async () => {
    const config = {
      server: serverWith([`${long}_1`, `${long}_2`, 'short']),
      other: serverWith([`${long}_1`], 'other'),
    };
    await using weir = startWeir(config, safely);
    const names = await weir.tools();
    expect(names).toHaveLength(4);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(HOST_SAFE);
    expect(names[2]).toBe('server__short');
    expect(names[0]).toMatch(/^server__a_tool_with_a_name_.*_[0-9a-f]{8}$/u);
    const reached = await Promise.all(names.map((name) => reaches(weir, name)));
    expect(reached).toEqual([`server: ${long}_1`, `server: ${long}_2`, 'server: short', `other: ${long}_1`]);
    for (const separator of ['__', ':', '.', '/']) {
      expect(await reaches(weir, `server${separator}${long}_2`)).toBe(`server: ${long}_2`);
    }
  });

  verifies(
    'AGG-SEP-3',
    'a shortened name stays the same at every start, whatever other tools exist',
    async () => {
      const nameIn = async (...others: string[]): Promise<string | undefined> => {
        await using weir = startWeir({ server: serverWith([...others, long]) }, safely);
        return (await weir.tools()).at(-1);
      };
      const name = await nameIn();
      expect(name).toHaveLength(64);
      expect(await nameIn('another', `${long}_2`)).toBe(name);
    },
  );

  verifies('AGG-SEP-3', 'unsafe characters of keys and names become underscores', async () => {
    const config = { 'my server': serverWith(['read.all', 'größe', 'a/b:c', 'ok-so_far', '🌊'], 'mine') };
    await using weir = startWeir(config, safely);
    const names = await weir.tools();
    expect(names).toEqual([
      'my_server__read_all',
      'my_server__gr__e',
      'my_server__a_b_c',
      'my_server__ok-so_far',
      'my_server___',
    ]);
    const reached = await Promise.all(names.map((name) => reaches(weir, name)));
    expect(reached).toEqual(['read.all', 'größe', 'a/b:c', 'ok-so_far', '🌊'].map((name) => `mine: ${name}`));
    expect(await reaches(weir, 'my server:größe')).toBe('mine: größe');
  });

  verifies('AGG-SEP-3', 'names that become equal get a stable hash', async () => {
    const config = {
      a: serverWith(['x.y', 'x_y', 'x/y'], 'a'),
      'a.': serverWith(['_x_y'], 'dot'),
      a_: serverWith(['x_y'], 'low'),
    };
    const listing = async (): Promise<string[]> => {
      await using weir = startWeir(config, safely);
      const names = await weir.tools();
      const reached = await Promise.all(names.map((name) => reaches(weir, name)));
      expect(reached).toEqual(['a: x.y', 'a: x_y', 'a: x/y', 'dot: _x_y', 'low: x_y']);
      return names;
    };
    const names = await listing();
    // A tool with exactly this name keeps it, wherever it stands in the list.
    expect(names[1]).toBe('a__x_y');
    expect(names[0]).toMatch(/^a__x_y_[0-9a-f]{8}$/u);
    expect(names[2]).toMatch(/^a__x_y_[0-9a-f]{8}$/u);
    expect(new Set(names).size).toBe(5);
    expect(await listing()).toEqual(names);
  });

  verifies('AGG-SEP-3', 'a hashed name never takes the name of another tool', async () => {
    const only = async (names: string[]): Promise<string[]> => {
      await using weir = startWeir({ a: serverWith(names, 'a') }, safely);
      const listed = await weir.tools();
      const reached = await Promise.all(listed.map((name) => reaches(weir, name)));
      expect(reached).toEqual(names.map((name) => `a: ${name}`));
      return listed;
    };
    const [hashed = ''] = await only(['x.y', 'x_y']);
    const names = await only(['x.y', 'x_y', hashed.slice('a__'.length)]);
    expect(names.slice(1)).toEqual(['a__x_y', hashed]);
    expect(names[0]).toMatch(/^a__x_y_[0-9a-f]{8}$/u);
    const long = 'y'.repeat(70);
    const [shortened = ''] = await only([long]);
    await only([long, shortened.slice('a__'.length)]);
  });

  verifies(
    ['AGG-SEP-3', 'HEALTH-7'],
    'stored catalogues and history know a tool by key and original name',
    async () => {
      const folder = temporaryFolder();
      const config = { 'my server': serverWith(['read.all'], 'mine') };
      const remembered = async (args: readonly string[], listed: string): Promise<void> => {
        await using weir = startWeir(config, { folder, args: [...args, '--lazy'] });
        expect(await weir.tools()).toEqual([listed]);
        expect(await reaches(weir, listed)).toBe('mine: read.all');
      };
      await remembered([], 'my server:read.all');
      await remembered(safely.args, 'my_server__read_all');
      await remembered(['--no-prefix'], 'read.all');
      const { stdout } = await runWeir(['history', '--json', '--state', join(folder, 'state')], { folder });
      const calls = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(calls.map(({ serverId, toolName }) => [serverId, toolName])).toEqual(
        Array.from({ length: 3 }, () => ['my server', 'read.all']),
      );
    },
  );

  verifies('AGG-SEP-3', 'a name does not change when a server of a similar key is down', async () => {
    const both = { 'a:b': serverWith(['x'], 'colon'), 'a.b': serverWith(['x'], 'dot') };
    await using weir = startWeir(both, safely);
    await using alone = startWeir(
      { ...both, 'a:b': { command: 'no-such-command' } },
      { args: [...safely.args, '--keep-going'] },
    );
    const [, dot] = await weir.tools();
    expect(await alone.tools()).toEqual([dot]);
  });
});

describe('with another separator', () => {
  verifies(
    'AGG-SEP-3',
    'names stay unchanged, however long, with a separator that hosts refuse',
    async () => {
      const long = 'x'.repeat(100);
      await using weir = startWeir({ 'my server': serverWith([long, 'größe']) });
      expect(await weir.tools()).toEqual([`my server:${long}`, 'my server:größe']);
    },
  );
});

describe('names that hosts refuse', () => {
  const warnings = (stderr: string): string[] =>
    [...stderr.matchAll(/^\S+ warn (.*)$/gmu)].map(([, text = '']) => text);
  const hint = async (config: Parameters<typeof startWeir>[0], ...args: string[]): Promise<string[]> => {
    await using weir = startWeir(config, { args });
    await weir.tools();
    const { stderr } = await weir.close();
    return warnings(stderr);
  };
  const two = { files: serverWith(['read', 'write']), git: serverWith(['log']) };

  verifies(
    'AGG-SEP-3',
    'one warning about refused names lists the hosts and the option to pass',
    async () => {
      expect(await hint(two)).toEqual([
        "Claude Desktop, the Anthropic and OpenAI APIs and Cursor refuse 3 of 3 tool names, such as 'files:read'. Start with --separator __ for names that they accept.",
      ]);
    },
  );

  verifies('AGG-SEP-3', 'the warning about refused names covers names without a prefix', async () => {
    expect(await hint({ files: serverWith(['read', 'write.all']) }, '--no-prefix')).toEqual([
      "Claude Desktop, the Anthropic and OpenAI APIs and Cursor refuse the tool name 'write.all'. Start with --separator __ instead of --no-prefix for names that they accept.",
    ]);
  });

  verifies(
    'AGG-SEP-3',
    'the gateway does not warn of refused names with a separator that hosts accept',
    async () => {
      const config = { 'my-files': serverWith(['read.all', 'x'.repeat(100)]) };
      expect(await hint(config, '--separator', '__')).toEqual([]);
    },
  );

  verifies(
    'AGG-SEP-3',
    'the gateway warns once of refused names, however often lists change and are read',
    async () => {
      await using weir = startWeir({ c: fixture('changing-lists'), files: serverWith(['read']) });
      const told = (): string[] => warnings(weir.stderr).filter((text) => text.includes('--separator __'));
      const change = async (tool: string, name: string): Promise<string[]> => {
        await weir.callTool(tool, { name });
        await weir.call('notifications/tools/list_changed');
        return weir.tools();
      };
      await weir.tools();
      await weir.tools();
      await weir.says('refuse 5 of 5 tool names');
      expect(await change('c:remove', 'first')).toHaveLength(4);
      expect(await change('c:add', 'first')).toHaveLength(5);
      expect(told()).toHaveLength(1);
      expect(await change('c:add', 'second')).toContain('c:second');
      await weir.says('refuse 6 of 6 tool names');
      expect(told()).toHaveLength(2);
    },
  );

  verifies(
    'AGG-SEP-3',
    'the gateway does not warn of refused names for hosts known to accept them',
    async () => {
      for (const name of ['claude-code', 'codex-mcp-client', 'gemini-cli-mcp-client']) {
        const clientInfo = { name, version: '1' };
        await using legacy = startWeir(two);
        await legacy.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
        await legacy.request('tools/list');
        await using newer = startWeir(two);
        await newer.request(
          'tools/list',
          modernMeta({}, { 'io.modelcontextprotocol/clientInfo': clientInfo }),
        );
        for (const weir of [legacy, newer]) expect(warnings((await weir.close()).stderr)).toEqual([]);
      }
    },
  );

  verifies(
    'AGG-SEP-3',
    'the gateway warns of refused names when a client on HTTP may refuse them, and not before',
    async () => {
      await using http = await serveTest(two);
      const clientInfo = { name: 'claude-code', version: '2.1.325' };
      const list = async (meta: Json): Promise<void> => {
        await send(http.url, modern('tools/list', {}, { meta }));
      };
      await list({ 'io.modelcontextprotocol/clientInfo': clientInfo });
      expect(http.logged.join('\n')).not.toContain('--separator');
      await list({});
      await list({});
      await eventually(async () => http.logged.join('\n').includes('--separator') || undefined);
      expect(http.logged.filter((line) => line.includes('--separator'))).toHaveLength(1);
    },
  );
});
