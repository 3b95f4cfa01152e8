import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bin, connectSdk, temporaryFolder, VERSION } from '../../support/harness.ts';
import { root } from '../../support/source-files.ts';
import { verifies } from '../../verifies.ts';

const run = promisify(execFile);

/** Runs `weir new` in a folder; `code` is the exit code. */
async function weirNew(
  cwd: string,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = run(process.execPath, [bin('weir'), 'new', ...args], { cwd });
  return command.then(
    (output) => ({ code: 0, ...output }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
}

describe('weir new', () => {
  verifies.slow(
    'KIT-MODULE-1',
    'the written server compiles, passes its test and answers through the gateway',
    async () => {
      const parent = temporaryFolder();
      symlinkSync(join(root, 'node_modules'), join(parent, 'node_modules'));
      const { stdout } = await weirNew(parent, 'my-server');
      expect(stdout).toContain('cd my-server\n  npm install\n  npm test\n  weir serve --config mcp.json\n');
      const folder = join(parent, 'my-server');
      expect(readdirSync(folder).toSorted()).toEqual(
        ['.gitignore', 'README.md', 'mcp.json', 'package.json', 'src', 'tsconfig.json'].toSorted(),
      );
      expect(readFileSync(join(folder, 'package.json'), 'utf8')).toContain(`"@weir/server": "^${VERSION}"`);
      for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }))
        if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain('{{');

      await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], { cwd: folder });
      const tests = await run(process.execPath, ['--test', '--test-reporter=tap', 'dist/server.test.js'], {
        cwd: folder,
      });
      expect(tests.stdout).toMatch(/# pass 1\n# fail 0/u);
      const args = [bin('weir'), '--config', join(folder, 'mcp.json'), '--state', join(parent, 'state')];
      const gateway = { command: process.execPath, args, env: { PATH: process.env['PATH'] ?? '' } };
      await using sdk = await connectSdk(gateway, 'modern');
      const answer = await sdk.client.callTool({
        name: 'my-server__greeting-get',
        arguments: { name: 'Ada' },
      });
      expect(answer).toMatchObject({ structuredContent: { item: { greeting: 'Hello, Ada!' } } });
    },
  );

  test('--config enters the server and keeps comments, layout and permissions', async () => {
    const folder = temporaryFolder();
    const config = join(folder, 'mine.jsonc');
    const text =
      '{\n\t// "mcpServers": {\n\t"mcpServers": {\n\t\t"a": { "command": "node" }, // mine\n\t},\n}\n';
    writeFileSync(config, text, { mode: 0o600 });
    symlinkSync(config, join(folder, 'link.jsonc'));
    const { stdout } = await weirNew(folder, 'b', '--config', 'link.jsonc');
    expect(stdout).toContain("Entered 'b' in link.jsonc.");
    const row = `\n\t\t"b": { "command": "node", "args": ["${join(folder, 'b', 'dist', 'main.js')}"] },`;
    expect(readFileSync(config, 'utf8')).toBe(
      text.replace('\t"mcpServers": {\n\t\t', `\t"mcpServers": {${row}\n\t\t`),
    );
    expect(statSync(config).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['an empty list', '{ "mcpServers": {} }'],
    ["VS Code's config", '{\n  "servers": {\n    "a": { "command": "node" }\n  },\n  "inputs": []\n}'],
    ['a list in one line', '{"mcpServers":{"a":{"command":"node","env":{"mcpServers":"{"}}}}'],
  ])('--config enters the server in %s', async (_what, text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'mcp.json'), text);
    expect((await weirNew(folder, 'b', '--config', 'mcp.json')).stderr).toBe('');
    const { mcpServers, servers = mcpServers } = JSON.parse(
      readFileSync(join(folder, 'mcp.json'), 'utf8'),
    ) as {
      [key: string]: Record<string, unknown>;
    };
    expect(servers?.['b']).toMatchObject({ command: 'node' });
    expect(Object.keys(servers ?? {}).filter((key) => key !== 'b')).toEqual(
      text.includes('"a"') ? ['a'] : [],
    );
  });

  test.each([
    ['a name that npm refuses', ['My Server'], 2, 'cannot name a server'],
    ['a folder that is not empty', ['taken'], 1, 'exists and is not an empty folder'],
    ['no name', [], 2, 'needs the name of a new folder, as in weir new my-server'],
    ['a server that the config has', ['a', '--config', 'mcp.json'], 1, "already has a server 'a'"],
    ['a config that is not there', ['b', '--config', 'none.json'], 1, 'Leave --config out'],
    ['a config that is not valid', ['b', '--config', 'broken.json'], 1, 'broken.json'],
    [
      'a config without a plain list',
      ['b', '--config', 'codex.json'],
      1,
      'by hand:\n  "b": { "command": "node"',
    ],
  ])('%s ends with an error and writes nothing', async (_what, args, code, text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'taken'), '');
    writeFileSync(join(folder, 'mcp.json'), '{ "mcpServers": { "a": { "command": "node" } } }');
    writeFileSync(join(folder, 'broken.json'), '{ "mcpServers": ');
    writeFileSync(join(folder, 'codex.json'), '{ "mcp_servers": { "a": { "command": "node" } } }');
    const before = readdirSync(folder);
    expect(await weirNew(folder, ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(text) as unknown,
    });
    expect(readdirSync(folder)).toEqual(before);
  });
});
