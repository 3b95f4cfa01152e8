// Requests that are kept while they are in flight are charged to their clients.
import { describe } from 'vitest';
import { fixture, scripted } from '../support/harness.ts';
import { begin, eventually, modern, serveTest, type Sent } from '../support/http.ts';
import { verifies } from '../verifies.ts';

const MB = 1_000_000;

/** Calls a tool with 1 MB of arguments, as a client of 2026-07-28 does. */
function large(name: string): Sent {
  const params = { name, arguments: { big: 'x'.repeat(MB) } };
  return modern('tools/call', params);
}

/** Never answers a call that may be made once more. */
const STALLS_REPEATABLE = scripted(`
  import { serve, tool } from 'stdio';
  const annotations = { idempotentHint: true };
  serve({ name: 's', tools: [tool('stall', { annotations })], call: { stall: () => undefined } });`);

describe('a request of 1 MB that is in flight', () => {
  for (const [what, server] of [
    ['across eras', fixture('stall')],
    ['for a tool that may be retried', STALLS_REPEATABLE],
  ] as const)
    verifies(
      ['SAFE-4', 'SAFE-1'],
      `M7: a request of 1 MB in flight is charged to its client, ${what}`,
      async () => {
        await using http = await serveTest({ s: server });
        const { accounts } = http.gateway.fronts;
        const hangUps = [1, 2, 3].map(() => begin(http.url, large('s:stall')));
        await eventually(async () => accounts.total > 3 * MB || undefined);
        for (const hangUp of hangUps) hangUp();
        await eventually(async () => accounts.total < MB || undefined);
      },
    );
});
