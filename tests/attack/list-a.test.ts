// Section A of the attack list: configs and processes of servers. Titles begin with the number of the case in cases.ts.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runUntilFailed, runWeir, scripted, startWeir, temporaryFolder, textOf } from '../support/harness.ts';
import { send, startServe } from '../support/http.ts';
import { verifies } from '../verifies.ts';

/** Answers with its own arguments and one variable. */
const tells = scripted(`
  import { serve, text, tool } from 'stdio';
  const told = () => text(JSON.stringify([process.argv.slice(1), process.env.TOLD]));
  serve({ name: 'tells', tools: [tool('told')], call: { told } });
`);

verifies('SAFE-4', '1: a shell line as the command is not found and runs nothing', async () => {
  const proof = join(temporaryFolder(), 'proof');
  const command = `sh -c 'touch ${proof}'`;
  const { code, stderr } = await runUntilFailed({ evil: { command } });
  expect(code).toBe(1);
  expect(stderr).toContain(`command not found: "${command}"`);
  expect(existsSync(proof)).toBe(false);
});

verifies('SAFE-4', '2: shell characters in arguments reach the server as one argument each', async () => {
  const proof = join(temporaryFolder(), 'proof');
  const hostile = [
    `; touch ${proof}`,
    `$(touch ${proof})`,
    `\`touch ${proof}\``,
    `&& touch ${proof}`,
    'a\nb',
    '*',
  ];
  await using weir = startWeir({ t: { ...tells, args: [...(tells.args ?? []), '--', ...hostile] } });
  await weir.tools();
  const [args] = JSON.parse(textOf(await weir.callTool('t:told'))) as [string[]];
  expect(args).toEqual(hostile);
  expect(existsSync(proof)).toBe(false);
});

verifies('SAFE-4', '3: the value of a variable is not expanded again', async () => {
  const VALUE = '${SECRET} $(id) ${__proto__}';
  await using weir = startWeir(
    { t: { ...tells, env: { TOLD: '${VALUE}' } } },
    { env: { VALUE, SECRET: 'must-not-appear' } },
  );
  await weir.tools();
  expect(JSON.parse(textOf(await weir.callTool('t:told')))).toEqual([[], VALUE]);
});

verifies('SAFE-4', '7: a config in the working directory is not read unless it is named', async () => {
  const folder = temporaryFolder();
  const proof = join(folder, 'proof');
  const config = JSON.stringify({ mcpServers: { evil: { command: 'touch', args: [proof] } } });
  for (const file of ['.mcp.json', 'mcp.json', 'weir.json']) writeFileSync(join(folder, file), config);
  for (const args of [[], ['serve', '--port', '0'], ['lock']]) {
    const { code, stderr } = await runWeir(args, { folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining('--config')]);
  }
  expect(existsSync(proof)).toBe(false);
});

verifies('SAFE-4', '8: HTTP clients cannot add, change or start a server', async () => {
  await using weir = await startServe({ t: tells });
  const { origin } = new URL(weir.url);
  const body = JSON.stringify({ mcpServers: { evil: { command: 'touch', args: ['proof'] } } });
  const headers = { Authorization: `Bearer ${weir.token}` };
  const paths = [
    '/',
    '/admin',
    '/servers',
    '/config',
    '/control',
    '/mcp/servers',
    '/mcp/../admin',
    '/reload',
  ];
  for (const path of paths)
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const { status } = await send(`${origin}${path}`, { method, headers, body });
      expect([path, method, status]).toEqual([path, method, expect.toSatisfy((it) => it >= 400 && it < 500)]);
    }
});

verifies(
  'SAFE-4',
  '16: a config that is large, deep or full of mistakes is refused with a bounded message',
  async () => {
    const nested = `{"mcpServers":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`s${i}`, { args: ['x'] }]));
    const padded = `{"mcpServers":{"a":{"command":7,"note":"${'x'.repeat(10 * 2 ** 20)}"}}}`;
    for (const config of [nested, JSON.stringify({ mcpServers: many }), padded]) {
      const { code, stderr } = await runUntilFailed(config);
      expect(code).toBe(1);
      expect(stderr).toMatch(/line 1\D|mcpServers/u);
      expect(stderr.length).toBeLessThan(2 ** 21);
    }
  },
);
