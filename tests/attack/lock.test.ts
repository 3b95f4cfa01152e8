// A lock file is committed and reviewed by people: definitions that do not match their hash are not listed.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { runWeir, scripted, startWeir, temporaryFolder } from '../support/harness.ts';
import { verifies } from '../verifies.ts';

interface Locked {
  servers: Record<
    's' | 'other',
    { instructions?: string; capabilities: object; tools: { name: string; description?: string }[] }
  >;
}

const described = (description: string) =>
  scripted(`
    import { serve, tool } from 'stdio';
    serve({ name: 'described', instructions: 'Be kind.', tools: [tool('t', { description: '${description}' })] });
  `);
const servers = { s: described('as it is'), other: described('another') };

/** Locks both servers, lets `edit` change the file, and starts a gateway over it without any memory of its own. */
async function listed(edit: (text: string) => string): Promise<{ list: string; stderr: string }> {
  const folder = temporaryFolder();
  const [config, state, lock] = ['mcp.json', 'state', 'weir.lock.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  expect((await runWeir(['lock', '--config', config, '--state', state], { folder })).code).toBe(0);
  rmSync(state, { recursive: true, force: true });
  writeFileSync(lock, edit(readFileSync(lock, 'utf8')));
  await using weir = startWeir(servers, { folder, args: ['--lazy', '--debug'] });
  const { result } = await weir.request('tools/list');
  return { list: JSON.stringify(result), stderr: weir.stderr };
}

const changed = (change: (locked: Locked) => void) => (text: string) => {
  const locked = JSON.parse(text) as Locked;
  change(locked);
  return JSON.stringify(locked, null, 2);
};

describe('L13: a lock file', () => {
  const edits: [what: string, edit: (text: string) => string][] = [
    ['whose description was edited', (text) => text.replace('as it is', 'EDITED')],
    ['with a tool more', changed(({ servers: { s } }) => s.tools.push({ name: 'EDITED' }))],
    ['with other instructions', changed(({ servers: { s } }) => (s.instructions = 'EDITED'))],
    [
      'with other capabilities',
      changed(({ servers: { s } }) => (s.capabilities = { prompts: { EDITED: 1 } })),
    ],
    ['with a list before its hash', (text) => text.replace('"s":{', '"s":{"prompts":[{"name":"EDITED"}],')],
    ['without its hash', (text) => text.replace(/("s":\{\s*"entry":"[^"]*",)\s*"hash":"[^"]*",/u, '$1')],
  ];
  for (const [what, edit] of edits)
    verifies(
      ['SAFE-4', 'AGG-REG-1'],
      `L13: a lock file ${what} is not used for that server, with a warning`,
      async () => {
        const { list, stderr } = await listed(edit);
        expect(list).not.toContain('EDITED');
        expect(list).toContain('as it is');
        expect(list).toContain('another');
        expect(stderr).toContain("the definitions of server 's' do not match their hash");
        expect(stderr).toContain('Write it again with "mcp-simple-aggregator lock"');
        expect(stderr).not.toContain("the definitions of server 'other'");
        expect(stderr.match(/started as process/gu)).toHaveLength(1);
      },
    );

  verifies(['SAFE-4', 'AGG-REG-1'], 'L13: a lock file in another layout is used', async () => {
    const { list, stderr } = await listed(changed(() => {}));
    expect(list).toContain('as it is');
    expect(stderr).not.toContain('hash');
    expect(stderr).not.toContain('started as process');
  });
});
