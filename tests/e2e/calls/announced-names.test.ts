// Announced items can be used at once, also while the gateway pauses before it reads the list again.
import { describe, expect } from 'vitest';
import { fixture, scripted, textOf } from '../../support/harness.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const LAST = 8;

describe.each(['legacy', 'modern'] as const)(
  'items that a server has just announced, for a %s client',
  (era) => {
    verifies(
      ['AGG-REG-2', 'AGG-CALL-3'],
      'calls find tools, prompts and resources that a server has just announced',
      async () => {
        await using weir = serveInProcess({ c: fixture('changing-lists'), e: fixture('echo') });
        const ask = await open(weir, era);
        for (let i = 1; i <= LAST; i++) {
          const name = `new-${i}`;
          for (const kind of ['tools', 'resources', 'prompts'])
            await ask('tools/call', { name: 'c:add', arguments: { kind, name } });
          expect(textOf(await ask('tools/call', { name: `c:${name}` }))).toBe(name);
          // The server knows nothing of these two methods: its own error shows that they have reached it.
          expect((await ask('resources/read', { uri: `changes://${name}` })).error?.code).toBe(-32601);
          expect((await ask('prompts/get', { name: `c:${name}` })).error?.code).toBe(-32601);
        }
        expect((await ask('tools/call', { name: 'c:never' })).error?.message).toBe('Tool not found: c:never');
      },
    );
  },
);

verifies(
  'AGG-REG-2',
  'a server that does not answer with its list delays a call by a second at most',
  async () => {
    const mute = scripted(`
    import { notify, serve, text, tool } from 'stdio';
    let isMute = false;
    serve({
      name: 'mute',
      capabilities: { tools: { listChanged: true } },
      call: { hush: () => { isMute = true; notify('notifications/tools/list_changed'); return text('hush'); } },
      on: { 'tools/list': () => (isMute ? undefined : { tools: [tool('hush')] }) },
    });`);
    await using weir = serveInProcess({ m: mute, e: fixture('echo') });
    await weir.initialize();
    await weir.callTool('m:hush');
    const began = performance.now();
    expect((await weir.callTool('m:new')).error?.message).toBe('Tool not found: m:new');
    expect(performance.now() - began).toBeLessThan(2500);
  },
);
