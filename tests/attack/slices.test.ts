// No peer holds up the others by how much it sends at once: work is bounded per turn of the event loop.
import { describe, expect } from 'vitest';
import { MOST_BYTES, MOST_ELEMENTS } from '../../packages/gateway/src/wire/slices.ts';
import { Probe, told, type Figures } from '../../scripts/attack/measure.mjs';
import { fixture, scripted, startWeir, textOf, type ServerEntry } from '../e2e/harness.ts';
import { verifies } from '../verifies.ts';

/** A server whose tool `attack` runs `script`, and whose tool `hello` answers. */
function attacker(script: string, versions = ['2025-11-25']): ServerEntry {
  return scripted(`
    import { serve, text, tool, write } from 'stdio';
    const call = { hello: () => text('hello'), attack() { ${script} } };
    serve({ name: 'attacker', versions: ${JSON.stringify(versions)}, tools: Object.keys(call).map((name) => tool(name)), call });
  `);
}

function print(figures: Figures): void {
  process.stdout.write(`${told(figures)}\n`);
}

/** The largest slice may end with one line that is longer than a slice, or with one that is told to many. */
function expectSmallSlices({ sliceElements, sliceBytes }: Figures, longest = 64 * 1024): void {
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
      expect(figures.longestOwnTurnMs).toBeLessThan(500);
      expect(textOf(await weir.callTool('bad:hello'))).toBe('hello');
    });
});
