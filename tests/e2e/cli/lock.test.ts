// `weir lock` writes the catalogues of all servers of a config into a file for the repository.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  fixture,
  runWeir,
  scripted,
  serverWith,
  temporaryFolder,
  type Ended,
  type Json,
  type ServerEntry,
} from '../../support/harness.ts';
import { verifies } from '../../verifies.ts';

interface Locked extends Json {
  readonly config: string;
  readonly servers: Record<string, Json & { hash: string; tools: { name: string }[] }>;
}

async function lock(
  servers: Record<string, ServerEntry>,
  { folder = temporaryFolder(), env = {} }: { folder?: string; env?: Record<string, string> } = {},
): Promise<{ ended: Ended; text: string; locked: () => Locked }> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: servers }));
  const args = ['lock', '--config', join(folder, 'mcp.json'), '--state', join(folder, 'state')];
  const ended = await runWeir(args, { folder, env });
  const file = join(folder, 'weir.lock.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return { ended, text, locked: () => JSON.parse(text) as Locked };
}

/** Lists these definitions as they are written here. */
const listing = (definitions: string): ServerEntry =>
  scripted(`
    import { serve, write } from 'stdio';
    serve({
      name: 'raw',
      on: { 'tools/list': (_, { id }) => void write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":[' + ${JSON.stringify(definitions)} + ']}}') },
    });
  `);

describe('weir lock', () => {
  verifies('AGG-REG-1', 'weir lock writes every server with its lists and a hash', async () => {
    const off = { ...fixture('echo'), enabled: false };
    const { ended, locked } = await lock({ t: serverWith(['b', 'a']), r: fixture('resources'), off });
    // No warning about names that hosts reject: those are for a start.
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^Wrote 2 servers to .*weir\.lock\.json\n$/u);
    const { servers } = locked();
    expect(Object.keys(servers)).toEqual(['r', 't']);
    expect(servers['t']?.tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(servers['t']?.hash).toMatch(/^sha256-[\w+/]{43}=$/u);
    expect(servers['r']).toHaveProperty('resources');
  });

  verifies('AGG-REG-1', 'weir lock writes the same text for any order of servers and keys', async () => {
    const one = '{"name":"a","x":12345678901234567890},{"name":"b","y":1e400}';
    const other = '{ "y" : 1e400, "name":"\\u0062"}, {"x":12345678901234567890, "name":"a"}';
    const [first, second] = await Promise.all([lock({ s: listing(one) }), lock({ s: listing(other) })]);
    const definitions = (text: string): string[] =>
      text.split('\n').filter((line) => line.startsWith('        '));
    expect(definitions(first.text)).toEqual([
      '        {"inputSchema":{"type":"object"},"name":"a","x":12345678901234567890},',
      '        {"inputSchema":{"type":"object"},"name":"b","y":1e400}',
    ]);
    expect(definitions(second.text)).toEqual(definitions(first.text));
    expect(second.locked().servers['s']?.hash).toBe(first.locked().servers['s']?.hash);
    expect(first.text.endsWith('}\n')).toBe(true);
    const folder = temporaryFolder();
    const again = [await lock({ a: serverWith(['a']), b: serverWith(['b']) }, { folder })];
    again.push(await lock({ b: serverWith(['b']), a: serverWith(['a']) }, { folder }));
    expect(again[1]?.text).toBe(again[0]?.text);
  });

  verifies(
    ['AGG-REG-1', 'SAFE-1'],
    'weir lock writes no values or paths, and its text changes with the config',
    async () => {
      const folder = temporaryFolder();
      const entry = { ...fixture('echo'), env: { TOKEN: '${SECRET}', MODE: 'literal-value' } };
      const first = await lock({ e: entry }, { folder, env: { SECRET: 'very-secret-one' } });
      const second = await lock({ e: entry }, { folder, env: { SECRET: 'very-secret-two' } });
      expect(first.ended.code).toBe(0);
      expect(second.text).toBe(first.text);
      for (const hidden of ['very-secret', 'literal-value', folder, dirname(process.execPath), 'fixtures'])
        expect(first.text).not.toContain(hidden);
      const changed = await lock({ e: { ...entry, env: {} } }, { folder });
      expect(changed.locked().config).not.toBe(first.locked().config);
    },
  );

  test('weir lock writes nothing if a server does not start', async () => {
    const { ended, text } = await lock({ a: serverWith(['a']), broken: fixture('exit-at-start') });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(
      `Nothing was written. Fix 'broken', or leave it out: set "enabled": false in its entry.`,
    );
    expect(text).toBe('');
  });

  test('weir lock rejects options of other commands', async () => {
    const { code, stderr } = await runWeir(['lock', '--config', 'mcp.json', '--keep-going']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^Unknown option: --keep-going \(it belongs to weir and weir serve\)\n\nUsage: weir lock/u,
    );
  });

  test('weir lock names the package that npx runs, with known version and integrity', async () => {
    const folder = temporaryFolder();
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    const { args = [] } = fixture('echo');
    writeFileSync(join(bin, 'npx'), `#!/bin/sh\nexec '${process.execPath}' '${args[0]}'\n`, { mode: 0o755 });
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    const packages = { 'node_modules/@x/known': { version: '1.2.3', integrity: 'sha512-abc' } };
    writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
    const npx = (...words: string[]): ServerEntry => ({ command: 'npx', args: ['-y', ...words] });
    const { locked, ended } = await lock(
      { known: npx('@x/known@1.2.3'), other: npx('unknown@2.0.0'), loose: npx('loose') },
      { folder, env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } },
    );
    expect(ended).toMatchObject({ code: 0 });
    const { servers } = locked();
    expect(servers['known']?.['package']).toEqual({
      name: '@x/known',
      version: '1.2.3',
      integrity: 'sha512-abc',
    });
    expect(servers['other']?.['package']).toEqual({ name: 'unknown', version: '2.0.0' });
    expect(servers['loose']?.['package']).toEqual({ name: 'loose' });
  });

  test('a gateway never changes the lock file', async () => {
    const folder = temporaryFolder();
    const { text } = await lock({ a: serverWith(['a']) }, { folder });
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { a: serverWith(['other']) } }));
    await runWeir(['--config', join(folder, 'mcp.json'), '--lazy', '--state', join(folder, 'state')], {
      folder,
    });
    expect(readFileSync(join(folder, 'weir.lock.json'), 'utf8')).toBe(text);
  });
});
