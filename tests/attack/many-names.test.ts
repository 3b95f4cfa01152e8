// Servers that list very many names, or ever new ones.
import { describe, expect } from 'vitest';
import { MOST_BYTES, MOST_ELEMENTS } from '../../packages/gateway/src/wire/turns.ts';
import { GROWTH_MB, Probe, told, type Figures } from '../../scripts/attack/measure.mjs';
import {
  scripted,
  serverWith,
  startWeir,
  textOf,
  type Received,
  type ServerEntry,
} from '../support/harness.ts';
import { serveInProcess } from '../support/in-process.ts';
import type { LineClient } from '../support/line-client.ts';
import { verifies } from '../verifies.ts';

/** A server whose tool `next` goes over to the next batch of names: `tool_BATCH_0` …; the first batch is small. */
function renaming(size: number, more = ''): ServerEntry {
  return scripted(`
    import { notify, serve, text, write } from 'stdio';
    let batch = -1;
    const list = () => Array.from({ length: batch < 0 ? 0 : ${size} }, (_, i) => ',{"name":"tool_' + batch + '_' + i + '"${more}}');
    serve({
      name: 'renaming',
      capabilities: { tools: { listChanged: true } },
      on: {
        'tools/list': (_params, { id }) =>
          write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":{"tools":[{"name":"next"}' + list().join('') + ']}}'),
        'tools/call': ({ name }) => {
          if (name !== 'next') return text('a: ' + name);
          batch++;
          notify('notifications/tools/list_changed');
          return text(batch);
        },
      },
    });
  `);
}

/** A server whose tool `next` makes it list this many resources, or templates, each with another beginning. */
function listing(kind: 'resources' | 'resourceTemplates', count: number, uri: string): ServerEntry {
  const key = kind === 'resources' ? 'uri' : 'uriTemplate';
  return scripted(`
    import { notify, serve, text, tool } from 'stdio';
    let count = 0;
    const items = () => Array.from({ length: count }, (_, i) => ({ ${key}: ${uri}, name: 'n' }));
    serve({
      name: 'listing',
      capabilities: { tools: {}, resources: { listChanged: true } },
      tools: [tool('next')],
      call: {
        next: () => {
          count = ${count};
          notify('notifications/resources/list_changed');
          return text('listed');
        },
      },
      on: {
        'resources/list': () => ({ resources: ${kind === 'resources' ? 'items()' : '[]'} }),
        'resources/templates/list': () => ({ resourceTemplates: ${kind === 'resources' ? '[]' : 'items()'} }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'read' }] }),
      },
    });
  `);
}

/** Has a server list something else, and waits until clients are told. */
async function renew(weir: LineClient, list = 'tools', server = 'a'): Promise<void> {
  await weir.callTool(`${server}:next`);
  await weir.call(`notifications/${list}/list_changed`);
}

async function call(weir: LineClient, name: string): Promise<string> {
  const answer: Received = await weir.callTool(name);
  return answer.error?.message ?? textOf(answer);
}

function expectSmallSlices(figures: Figures): void {
  process.stdout.write(`${told(figures)}\n`);
  expect(figures.slices).toBeGreaterThan(10);
  // The work of one message may end a slice that is nearly full.
  expect(figures.sliceElements).toBeLessThanOrEqual(MOST_ELEMENTS + 10);
  expect(figures.sliceBytes).toBeLessThanOrEqual(MOST_BYTES + 32 * 1024 * 1024);
  expect(figures.growthMb).toBeLessThan(GROWTH_MB);
}

describe('a server that lists ever new names', () => {
  verifies(
    'AGG-SEP-3',
    'H6: the gateway keeps the last 10,000 names that a server no longer lists',
    async () => {
      const b = serverWith(['tool_0_0', 'tool_1_0', 'own'], 'b');
      await using weir = serveInProcess({ a: renaming(6000), b });
      await weir.initialize();
      await renew(weir);
      await renew(weir);
      // Both are known to be of two servers, though one of these lists the first no more.
      for (const name of ['tool_0_0', 'tool_1_0'])
        expect(await call(weir, name)).toBe(
          `Tool not found: ${name} may mean b:${name} or a:${name}; use the full name`,
        );
      await renew(weir);
      expect(await call(weir, 'tool_0_0')).toBe('b: tool_0_0');
      expect(await call(weir, 'tool_1_0')).toMatch(/may mean b:tool_1_0 or a:tool_1_0/u);
      expect(await call(weir, 'tool_2_0')).toBe('a: tool_2_0');
      // A full name is its server's also after it was forgotten.
      expect(await call(weir, 'a:tool_0_0')).toBe('Tool not found: a:tool_0_0');
    },
  );

  verifies(
    ['AGG-SEP-3', 'SAFE-4'],
    'H6: ever new names do not delay calls by another spelling or an unknown name',
    async () => {
      await using probe = new Probe();
      const servers = { a: renaming(15_000), b: serverWith(['own'], 'b') };
      await using weir = startWeir(servers, { env: probe.env });
      await weir.initialize();
      await probe.begin();
      for (let batch = 0; batch < 4; batch++) {
        await renew(weir);
        expect(await call(weir, 'own')).toBe('b: own');
        expect(await call(weir, 'b/own')).toBe('b: own');
        expect(await call(weir, `tool_${batch}_9`)).toBe(`a: tool_${batch}_9`);
        expect(await call(weir, 'nobody:has')).toBe('Tool not found: nobody:has');
      }
      expectSmallSlices(await probe.end());
    },
  );
});

describe('one list', () => {
  verifies('SAFE-4', 'H6: a list of 1,000,000 tools is cut, and read in slices', async () => {
    await using probe = new Probe();
    const servers = { a: renaming(1_000_000), b: serverWith(['own'], 'b') };
    await using weir = startWeir(servers, { env: probe.env });
    await weir.initialize();
    await probe.begin();
    const renewed = renew(weir);
    for (let i = 0; i < 20; i++) expect(await call(weir, 'b:own')).toBe('b: own');
    await renewed;
    expect(await call(weir, 'own')).toBe('b: own');
    expect(await call(weir, 'a:tool_0_19998')).toBe('a: tool_0_19998');
    expect(await call(weir, 'a:tool_0_19999')).toBe('Tool not found: a:tool_0_19999');
    await weir.says(/warn \[a\] lists more than 20000 tools; Weir keeps the first ones/u);
    expectSmallSlices(await probe.end());
  });

  verifies(
    'SAFE-4',
    'H6: 10,000 templates are compared with 10,000 URIs of another server in slices',
    async () => {
      await using probe = new Probe();
      const servers = {
        a: listing('resourceTemplates', 10_000, "'x://' + 'y'.repeat(i % 200) + i + '/{id}'"),
        b: listing('resources', 10_000, "'x://' + 'y'.repeat(i % 200) + i + '/one'"),
      };
      await using weir = startWeir(servers, { env: probe.env });
      await weir.initialize();
      await probe.begin();
      await renew(weir, 'resources', 'b');
      await renew(weir, 'resources', 'a');
      for (const uri of ['x://0/one', 'x://y1/one'])
        expect((await weir.request('resources/read', { uri })).result).toMatchObject({ contents: [{ uri }] });
      const other = await weir.request('resources/read', { uri: 'x://0/two' });
      expect(other.error?.message).toContain('may mean weir://a/x%3A%2F%2F0%2Ftwo');
      expectSmallSlices(await probe.end());
    },
  );
});
