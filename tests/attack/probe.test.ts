// The measure of all attacks: the probe sees one long turn, and reaches no server.
import { expect, test } from 'vitest';
import { GROWTH_MB, Probe, told } from '../../scripts/attack/measure.mjs';
import { scripted, startWeir, textOf } from '../support/harness.ts';
import { startServe } from '../support/http.ts';

/** Tells how much of the probe has reached it. */
const curious = {
  ...scripted(`
    import { serve, text, tool } from 'stdio';
    const found = () => text(String(process.env.WEIR_PROBE) + ' ' + String(process.env.NODE_OPTIONS));
    serve({ name: 'curious', tools: [tool('found')], call: { found } });
  `),
  inheritEnv: true,
};

test('the probe measures a gateway on stdio, and servers do not inherit it', async () => {
  await using probe = new Probe();
  await using weir = startWeir({ curious }, { env: probe.env });
  await weir.tools();
  await probe.begin();
  expect(textOf(await weir.callTool('curious:found'))).toBe('undefined undefined');
  const figures = await probe.end();
  const { longestTurnMs, longestOwnTurnMs, residentMb, growthMb, healthzMs } = figures;
  expect(longestOwnTurnMs).toBeLessThanOrEqual(longestTurnMs);
  expect(longestTurnMs).toBeLessThan(1000);
  expect(residentMb).toBeGreaterThan(20);
  expect(growthMb).toBeLessThan(GROWTH_MB);
  expect(healthzMs).toBeUndefined();
  expect(told(figures)).toMatch(/^longest turn [\d.]+ ms .* slices \d+ elements, \d+ KiB, memory \+\d+ MB$/u);
});

test('the probe and /healthz both measure the time that a gateway is suspended', async () => {
  await using probe = new Probe();
  await using weir = await startServe({}, { env: probe.env });
  await probe.begin({ url: weir.url });
  weir.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 300));
  weir.kill('SIGCONT');
  const { longestTurnMs, healthzMs } = await probe.end();
  expect(longestTurnMs).toBeGreaterThan(250);
  expect(healthzMs).toBeGreaterThan(250);
});
