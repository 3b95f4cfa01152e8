// Readiness and errors while servers start.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  fixture,
  scripted,
  temporaryFolder,
  textOf,
  type Json,
  type ServerEntry,
} from '../../support/harness.ts';
import {
  eventually,
  modern,
  send,
  serveTest,
  startServe,
  type Answer,
  type HttpTest,
} from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

/** A server that starts when the test lets it. */
function gated(): { late: ServerEntry; open: () => void } {
  const gate = join(temporaryFolder(), 'gate');
  const late = scripted(`
    import { existsSync } from 'node:fs';
    import { serve, text, tool } from 'stdio';
    while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 20));
    serve({
      name: 'late',
      capabilities: { tools: {}, prompts: {}, resources: {} },
      tools: [tool('echo')],
      call: { echo: () => text('here') },
      on: {
        'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
        'prompts/get': () => ({ messages: [] }),
        'resources/list': () => ({ resources: [{ name: 'a', uri: 'mem://a' }] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'a' }] }),
      },
    });
  `);
  return { late: { ...late, startupTimeout: 60_000 }, open: () => writeFileSync(gate, '') };
}

async function readiness({ url }: { readonly url: string }): Promise<number> {
  return (await send(url.replace('/mcp', '/readyz'), { method: 'GET' })).status;
}

async function ask({ url }: HttpTest, method: string, params: Json): Promise<Answer['json']> {
  return (await send(url, modern(method, params))).json;
}

describe('a server that starts slowly', () => {
  verifies('ERA-1', 'a slow server delays readiness, but not calls of other servers', async () => {
    const { late, open } = gated();
    await using http = await serveTest({ echo: fixture('echo'), broken: fixture('exit-at-start'), late });
    expect((await ask(http, 'tools/call', { name: 'echo:add', arguments: { a: 1, b: 2 } })).error).toBe(
      undefined,
    );
    expect(await readiness(http)).toBe(503);
    open();
    await eventually(async () => (await readiness(http)) === 200 || undefined);
    expect(textOf(await ask(http, 'tools/call', { name: 'late:echo' }))).toBe('here');
  });

  verifies(
    'AGG-REG-3',
    'calls of a server that still starts get an error that says to call again',
    async () => {
      const { late, open } = gated();
      await using http = await serveTest({ echo: fixture('echo'), late });
      const wanted: [method: string, params: Json, says: string][] = [
        ['tools/call', { name: 'late:echo' }, "Tool not found yet: late:echo (its server 'late' is"],
        ['prompts/get', { name: 'late:greet' }, "Prompt not found yet: late:greet (its server 'late' is"],
        ['resources/read', { uri: 'mem://a' }, "Resource not found yet: mem://a ('late' is"],
        ['resources/read', { uri: 'weir://late/mem://a' }, "its server 'late' is still starting"],
      ];
      for (const [method, params, says] of wanted) {
        const { error } = await ask(http, method, params);
        expect(error?.code).toBe(-32000);
        expect(error?.message).toContain(says);
        expect(error?.message).toContain('call again in a moment');
      }
      const { error } = await ask(http, 'tools/call', { name: 'echo:nothing' });
      expect(error).toMatchObject({ code: -32602, message: 'Tool not found: echo:nothing' });
      open();
      await http.gateway.allAttempted;
      for (const [method, params] of wanted.slice(0, 3))
        expect(await ask(http, method, params)).toHaveProperty('result');
    },
  );

  test('an unknown plain name is "not found yet" while a server still starts', async () => {
    const { late, open } = gated();
    await using http = await serveTest({ echo: fixture('echo'), late }, { noPrefix: true });
    const missing = await ask(http, 'tools/call', { name: 'greet' });
    expect(missing.error).toMatchObject({
      code: -32000,
      message: "Tool not found yet: greet ('late' is still starting and may have it; call again in a moment)",
    });
    open();
    await http.gateway.allAttempted;
    const { error } = await ask(http, 'tools/call', { name: 'greet' });
    expect(error).toMatchObject({ code: -32602, message: 'Tool not found: greet' });
  });
});

describe('weir serve', () => {
  verifies(
    'AGG-CHILD-3',
    'weir serve prints how many servers run and which failed, once all were tried',
    async () => {
      const { late, open } = gated();
      await using weir = await startServe({ echo: fixture('echo'), broken: fixture('exit-at-start'), late });
      expect(weir.stdout).toMatch(/^weir starts 3 servers, served at http:\S+ {2}token=\S+\n/u);
      await eventually(async () => weir.stderr.includes("'broken'") || undefined);
      expect(weir.stdout).not.toContain('servers are running');
      open();
      await eventually(async () => weir.stdout.includes('servers are running') || undefined);
      expect(weir.stdout).toMatch(
        /^2 of 3 servers are running; failed and tried again: broken \(see the log\)$/mu,
      );
    },
  );

  test('weir serve reports no failed servers when it is interrupted', async () => {
    const { late } = gated();
    const weir = await startServe({ late });
    weir.kill('SIGINT');
    expect(await weir.ended).toEqual({ code: 0, signal: null });
    expect(weir.stdout).not.toContain('failed');
    expect(weir.stdout).not.toContain('Waiting');
  });
});
