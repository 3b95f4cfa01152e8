import { describe, expect } from 'vitest';
import { verifies } from '../verifies.ts';
import { type Kit, startConformanceServer } from './conformance-server.ts';
import { noJudges } from './judges.ts';
import { runConformance } from './run-conformance.ts';

const KITS: Kit[] = ['server', 'router', 'fetch'];
const SETS = [
  ['2025-11-25', 83],
  // Without the extension for tasks, which a transport does not have.
  ['2026-07-28', 152],
] as const;

describe.each(KITS)('the official suite judges the %s of @weir/server', (kit) => {
  verifies
    .skipIf(noJudges)
    .slow(
      'KIT-TRANSPORT-1',
      `the ${kit} passes what a server on the transports of the SDK passes`,
      async () => {
        const server = await startConformanceServer('dual', kit);
        try {
          for (const [requirements, passed] of SETS) {
            const all = await runConformance(server.url, requirements);
            const verdicts = all.filter(({ scenario }) => !scenario.startsWith('tasks-'));
            const unmet = verdicts.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
            expect(unmet).toEqual([]);
            expect(verdicts.filter(({ status }) => status === 'SUCCESS')).toHaveLength(passed);
          }
        } finally {
          await server.stop();
        }
      },
    );
});
