// Overrides in the config: another name and another description for one tool of a server.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  runWeir,
  scripted,
  serverWith,
  startWeir,
  temporaryFolder,
  textOf,
} from '../../support/harness.ts';
import { counted, serveInProcess } from '../../support/in-process.ts';
import type { Json } from '../../support/line-client.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

/** Lists definitions as they are written here, and answers with the name that was called. */
const listing = (...definitions: string[]): ReturnType<typeof scripted> =>
  scripted(`
    import { createInterface } from 'node:readline';
    const tools = ${JSON.stringify(`[${definitions.join(',')}]`)};
    const send = (text) => process.stdout.write(text + '\\n');
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => send('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + '}');
      if (method === 'initialize')
        answer('{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}');
      else if (method === 'tools/list') answer('{"tools":' + tools + '}');
      else if (method === 'tools/call') answer(JSON.stringify({ content: [{ type: 'text', text: params.name }] }));
      else if (id !== undefined) send('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"error":{"code":-32601,"message":"no"}}');
    });
  `);

const READ =
  '{ "description" : "Long\\u0021", "name":"read_file", "inputSchema":{"type":"object"}, "x-n":1.50 }';
const BARE = '{"name":"bare","inputSchema":{"type":"object"}}';

describe('overrides of tools', () => {
  verifies('AGG-CFG-4', 'a renamed tool is listed and callable under its new name only', async () => {
    const entry = {
      ...serverWith(['read_file', 'write'], 'files'),
      tools: { read_file: { rename: 'read' } },
    };
    await using client = serveInProcess({ files: entry, other: serverWith(['open']) }, { separator: '__' });
    expect(await client.tools()).toEqual(['files__read', 'files__write', 'other__open']);
    for (const name of ['files__read', 'files:read', 'files.read', 'read'])
      expect(textOf(await client.callTool(name))).toBe('files: read_file');
    for (const name of ['files__read_file', 'files:read_file', 'read_file'])
      expect((await client.callTool(name)).error).toMatchObject({
        code: -32602,
        message: `Tool not found: ${name} (renamed to "read" by "tools" of server 'files' in the config)`,
      });
  });

  verifies('AGG-CFG-4', 'an override changes no bytes but the name and the description', async () => {
    const tools = {
      read_file: { rename: 'read', description: 'Reads “one” file.' },
      bare: { description: 'Has one now.' },
    };
    await using client = serveInProcess({ files: { ...listing(READ, BARE), tools } });
    await client.initialize();
    const list = async (): Promise<string> => {
      await client.request('tools/list');
      return client.lines.at(-1)?.replace(/"id":\d+/u, '') ?? '';
    };
    const first = await list();
    const read = READ.replace('"Long\\u0021"', '"Reads “one” file."').replace('"read_file"', '"files:read"');
    const bare = BARE.replace('"bare"', '"files:bare","description":"Has one now."');
    expect(first).toContain(`"tools":[${read},${bare}]`);
    expect(await list()).toBe(first);
  });

  verifies(
    'AGG-CFG-4',
    'filters and timeouts apply to a tool by the name that its server gives it',
    async () => {
      const tools = { read_file: { rename: 'read', timeout: 60_000 }, gone: { rename: 'x', enabled: false } };
      const entry = {
        ...serverWith(['read_file', 'gone', 'more'], 'f'),
        tools,
        includeTools: ['read_*', 'gone'],
      };
      await using client = serveInProcess({ f: entry }, { noPrefix: true });
      expect(await client.tools()).toEqual(['read']);
      expect(textOf(await client.callTool('read'))).toBe('f: read_file');
      expect((await client.callTool('read_file')).error?.message).toContain('renamed to "read"');
      for (const name of ['gone', 'x', 'more'])
        expect((await client.callTool(name)).error?.message).toContain('hidden by');
    },
  );

  verifies('AGG-CFG-4', 'overrides can swap the names of two tools', async () => {
    const tools = { a: { rename: 'b' }, b: { rename: 'a' } };
    await using client = serveInProcess({ s: { ...serverWith(['a', 'b'], 's'), tools } });
    expect(await client.tools()).toEqual(['s:b', 's:a']);
    for (const form of ['s:%', 's.%', 's__%', '%'])
      for (const [name, own] of ['ba', 'ab'])
        expect(textOf(await client.callTool(form.replace('%', name ?? '')))).toBe(`s: ${own}`);
  });

  verifies(
    'AGG-CFG-4',
    'the gateway omits a tool whose name the config gives to another, with a warning',
    async () => {
      const entry = { ...serverWith(['read', 'read_file'], 'f'), tools: { read_file: { rename: 'read' } } };
      await using client = serveInProcess({ f: entry });
      expect(await client.tools()).toEqual(['f:read']);
      expect(textOf(await client.callTool('f:read'))).toBe('f: read_file');
      expect(client.logged).toContain(
        `warn Tool "read" of server 'f' is left out, because the config renames "read_file" to that name; give one of them another "rename" in "tools"`,
      );
    },
  );

  verifies(
    'AGG-CFG-4',
    'an override of an unlisted tool causes a warning with the nearest name',
    async () => {
      const tools = { raed_file: { rename: 'read' } };
      await using client = serveInProcess({ f: { ...serverWith(['read_file']), tools } });
      expect(await client.tools()).toEqual(['f:read_file']);
      expect(client.logged).toContain(
        `warn "tools" of server 'f' names "raed_file", but the server lists no such tool; did you mean "read_file"?`,
      );
    },
  );

  verifies(
    ['AGG-CFG-4', 'HEALTH-3'],
    'a changed override takes effect without a restart, with one notice',
    async () => {
      const { entry, starts } = counted(fixture('echo'));
      const config = (tools: Record<string, object>): Parameters<typeof client.gateway.reload>[0] => ({
        mcpServers: { f: { ...entry, includeTools: ['echo', 'line'], tools } },
      });
      await using client = serveInProcess(
        { f: { ...entry, includeTools: ['echo', 'line'] } },
        { noPrefix: true },
      );
      expect(await client.tools()).toEqual(['echo', 'line']);
      const notices = (): number =>
        client.messages.filter(({ method }) => method === 'notifications/tools/list_changed').length;
      const steps: [Record<string, object>, string[]][] = [
        [{ echo: { rename: 'say' } }, ['say', 'line']],
        [{ echo: { rename: 'speak' } }, ['speak', 'line']],
        [{ echo: { rename: 'speak', description: 'Speaks.' } }, ['speak', 'line']],
        [{ line: { rename: 'say' } }, ['echo', 'say']],
        [{}, ['echo', 'line']],
      ];
      for (const [index, [tools, names]] of steps.entries()) {
        expect(await client.gateway.reload(config(tools))).toMatchObject({ adjusted: ['f'], changed: [] });
        await until(() => notices() === index + 1);
        expect(await client.tools()).toEqual(names);
        for (const name of names) expect((await client.callTool(name)).error).toBeUndefined();
      }
      expect(textOf(await client.callTool('echo', { text: 'x' }))).toBe('x');
      await client.gateway.reload(config({ line: { timeout: 1000 } }));
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(notices()).toBe(steps.length);
      expect(starts()).toBe(1);
    },
  );

  verifies(
    'AGG-CFG-4',
    'the lock file keeps original names, and overrides apply to a locked lazy server',
    async () => {
      const folder = temporaryFolder();
      const { entry, starts } = counted(fixture('echo'));
      const config = (tools: Json): string => JSON.stringify({ mcpServers: { echo: { ...entry, tools } } });
      const file = join(folder, 'mcp.json');
      writeFileSync(file, config({ echo: { rename: 'say', description: 'Says.' } }));
      await runWeir(['lock', '--config', file, '--state', join(folder, 'locked')], { folder });
      const locked = readFileSync(join(folder, 'weir.lock.json'), 'utf8');
      expect(locked).not.toContain('Says.');
      await using weir = startWeir(config({ echo: { rename: 'speak', description: 'Speaks.' } }), {
        folder,
        args: ['--lazy'],
      });
      expect(await weir.tools()).toContain('echo:speak');
      expect(starts()).toBe(1);
      expect(textOf(await weir.callTool('echo:speak', { text: 'x' }))).toBe('x');
      expect((await weir.callTool('echo:echo')).error?.message).toContain('renamed to "speak"');
      expect(starts()).toBe(2);
      expect(weir.stderr).not.toContain('lists other tools');
    },
  );
});
