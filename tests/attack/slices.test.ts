// No peer holds up the others by how much it sends at once: work is bounded per turn of the event loop.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { MOST_BYTES, MOST_ELEMENTS } from '../../packages/gateway/src/wire/slices.ts';
import { Probe, told, type Figures } from '../../scripts/attack/measure.mjs';
import { fixture, scripted, startWeir, temporaryFolder, textOf, type ServerEntry } from '../e2e/harness.ts';
import { eventually, modern, open, send, startServe } from '../e2e/http.ts';
import { verifies } from '../verifies.ts';

/** A server whose tool `attack` runs `script`, and whose tool `hello` answers. */
function attacker(script: string, versions = ['2025-11-25']): ServerEntry {
  return scripted(`
    import { serve, text, tool, write } from 'stdio';
    const call = { hello: () => text('hello'), attack() { ${script} } };
    serve({ name: 'attacker', versions: ${JSON.stringify(versions)}, tools: Object.keys(call).map((name) => tool(name)), call });
  `);
}

/** Waits until all servers of a gateway have been tried. */
async function ready(url: string): Promise<void> {
  const readyz = new URL('/readyz', url).href;
  await eventually(async () => (await send(readyz, { method: 'GET' })).status === 200 || undefined);
}

/** The first server-sent event of a response, without comments. */
async function firstEvent(response: Readable): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    response.once('close', () => reject(new Error(`Closed after ${text.length} bytes`)));
    response.on('data', (chunk: string) => {
      text += chunk;
      if (/data: .*\n\n/u.test(text)) resolve(text);
    });
  });
}

function print(figures: Figures): void {
  process.stdout.write(`${told(figures)}\n`);
}

/** The largest slice may end with one line that is longer than a slice, or with one that is told to many. */
function expectSmallSlices({ slices, sliceElements, sliceBytes }: Figures, longest = 64 * 1024): void {
  expect(slices).toBeGreaterThan(0);
  expect(sliceElements).toBeLessThanOrEqual(MOST_ELEMENTS + 1000);
  expect(sliceBytes).toBeLessThanOrEqual(MOST_BYTES + longest);
}

describe('one line of a server', () => {
  const BATCHES: [string, string, string][] = [
    ['empty objects', '{}', '2025-11-25'],
    ['pings', '{"jsonrpc":"2.0","id":1,"method":"ping"}', '2025-11-25'],
    ['empty objects, in the revision that knows batches', '{}', '2025-03-26'],
  ];
  for (const [what, element, version] of BATCHES)
    verifies('SAFE-4', `H2: with 1,000,000 ${what} is refused without a look at them`, async () => {
      await using probe = new Probe();
      const line = `write('[' + '${element},'.repeat(999_999) + '${element}]')`;
      const servers = { bad: attacker(`${line}; return text('sent')`, [version]), echo: fixture('echo') };
      await using weir = startWeir(servers, { env: probe.env });
      await weir.tools();
      await probe.begin();
      expect(textOf(await weir.callTool('bad:attack'))).toBe('sent');
      expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
      const figures = await probe.end();
      print(figures);
      expectSmallSlices(figures, 64 * 1024 * 1024);
      expect(textOf(await weir.callTool('bad:hello'))).toBe('hello');
    });
});

describe('a client that follows thousands of resources', () => {
  const COUNT = 8000;
  const uris = Array.from({ length: COUNT }, (_, i) => `tape://resource/${i}`);
  const filter = { notifications: { resourceSubscriptions: uris } };

  /** The lines that the server has got of a method, and their bytes. */
  function received(folder: string, method: string): { readonly lines: number; readonly bytes: number } {
    const lines = readFileSync(join(folder, 'received'), 'utf8').split('\n');
    const own = lines.filter((line) => line.includes(`"method":"${method}"`));
    return { lines: own.length, bytes: own.join('').length };
  }

  for (const era of ['modern', 'legacy'])
    verifies(
      'SAFE-4',
      `H1: asks a ${era} server for each once, and the gateway outlives its end`,
      async () => {
        await using probe = new Probe();
        const folder = temporaryFolder();
        const tape = fixture('tape', folder, ...(era === 'modern' ? ['--modern'] : []));
        await using weir = await startServe({ tape, echo: fixture('echo') }, { env: probe.env });
        const token = { Authorization: `Bearer ${weir.token}` };
        await ready(weir.url);
        await probe.begin({ url: weir.url });
        const listen = modern('subscriptions/listen', filter);
        const stream = await open(weir.url, { ...listen, headers: { ...listen.headers, ...token } });
        expect((await firstEvent(stream)).match(/tape:/gu)).toHaveLength(COUNT);
        stream.destroy();
        await delay(300);
        const echo = modern('tools/call', { name: 'echo:echo', arguments: { text: 'on' } });
        const answer = await send(weir.url, { ...echo, headers: { ...echo.headers, ...token } });
        expect(answer.text).toContain('"on"');
        const figures = await probe.end();
        print(figures);
        expectSmallSlices(figures, 4 * 1024 * 1024);
        const listens = received(folder, 'subscriptions/listen');
        expect(listens.lines).toBeLessThanOrEqual(era === 'modern' ? 4 : 0);
        expect(listens.bytes).toBeLessThan(4 * COUNT * 30);
        // What is given up before the server has been told of it needs no request.
        expect(received(folder, 'resources/subscribe').lines).toBeLessThanOrEqual(
          era === 'modern' ? 0 : COUNT,
        );
      },
    );
});
