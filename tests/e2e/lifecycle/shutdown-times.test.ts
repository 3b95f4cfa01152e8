// The times after the end of the input, with a clock that only the test moves.
import { afterEach, expect, vi } from 'vitest';
import { scripted } from '../../support/harness.ts';
import { serveInProcess, type InProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const stalls = scripted(`
  import { serve, tool } from 'stdio';
  serve({ name: 'stalls', tools: [tool('stall')], call: { stall: () => new Promise(() => {}) } });`);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Stops the clock; what runs on streams and processes goes on. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(process, 'uptime').mockImplementation(() => Date.now() / 1000);
}

async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  // The end of a stream is told in a later turn.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Ends the input; what the gateway is closed with is the time until it kills, in milliseconds. */
async function endInput(weir: InProcess): Promise<{ killAfter: number[] }> {
  const killAfter: number[] = [];
  const { lifecycle } = weir.gateway.fronts;
  const close = lifecycle.close.bind(lifecycle);
  vi.spyOn(lifecycle, 'close').mockImplementation((ms) => {
    killAfter.push(Math.round(ms ?? NaN));
    return close(ms);
  });
  stopClock();
  weir.input.end();
  await pass(0);
  return { killAfter };
}

verifies('AGG-CHILD-5', 'calls in flight at the end of the input get 2 s', async () => {
  await using weir = serveInProcess({ s: stalls });
  await weir.tools();
  weir.send({ id: 'call', method: 'tools/call', params: { name: 's:stall', arguments: {} } });
  await vi.waitUntil(() => weir.gateway.children.get('s')?.usage.inFlight === 1);
  const { killAfter } = await endInput(weir);
  await pass(1990);
  expect(killAfter).toEqual([]);
  await pass(20);
  expect(killAfter).toEqual([2000]);
  vi.useRealTimers();
  expect((await weir.answer('call')).error?.message).toContain("Server 's' has been stopped");
});

verifies('AGG-CHILD-5', 'servers are killed 4 s after the end of the input', async () => {
  await using weir = serveInProcess({ s: stalls });
  await weir.tools();
  const { killAfter } = await endInput(weir);
  expect(killAfter).toEqual([4000]);
  vi.useRealTimers();
});
