// @ts-check
import { gateway, test } from './places.mjs';

const noLimit = { file: 'tests/e2e/calls/limits.test.ts', name: '"mcpSessionLimit" of -1 sets no limit' };
const lost = test(
  'upstream/supervision/supervisor.test.ts',
  'a lost server is tried after 1, 5 and 15 s, then disabled for good',
);
const settled = test('upstream/supervision/supervisor.test.ts', 'counts as back after 30 s, not before');
const revisions = test('protocol/eras.test.ts', 'the protocol versions of both eras are listed');

/** @type {readonly import('../mutations.mjs').Mutation[]} */
export const ERAS_AND_HEALTH = [
  ...['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2026-07-28'].map((revision) => ({
    id: 'ERA-1',
    number: revision,
    file: gateway('protocol/eras.ts'),
    from: `'${revision}'`,
    to: ["'2025-01-01'"],
    proofs: [revisions],
  })),
  {
    id: 'ERA-4',
    number: '2 s',
    file: gateway('upstream/transports.ts'),
    from: 'probe: 2000',
    to: ['probe: 1000', 'probe: 3500'],
    proofs: [test('upstream/start/negotiate.test.ts', 'gets the legacy handshake after 2 s')],
  },
  {
    id: 'ERA-4',
    number: '2 s',
    file: gateway('upstream/transports.ts'),
    from: 'probe: 2000',
    to: ['probe: 1000'],
    proofs: [{ file: 'tests/e2e/eras/negotiation.test.ts', name: 'silent to the probe is legacy after 2 s' }],
    slow: true,
  },
  {
    id: 'HEALTH-1',
    number: '30 s between probes',
    file: gateway('upstream/supervision/health.ts'),
    from: 'probeEveryMs: 30_000',
    to: ['probeEveryMs: 20_000', 'probeEveryMs: 40_000'],
    proofs: [test('upstream/supervision/supervisor.test.ts', 'a connected server is probed every 30 s')],
  },
  {
    id: 'HEALTH-2',
    number: '1 s before the first attempt',
    file: gateway('upstream/supervision/health.ts'),
    from: 'backOffMs: [1000,',
    to: ['backOffMs: [0,', 'backOffMs: [2000,'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: '5 s before the second',
    file: gateway('upstream/supervision/health.ts'),
    from: '5000, 15_000]',
    to: ['4000, 15_000]', '6000, 15_000]'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: '15 s before the third',
    file: gateway('upstream/supervision/health.ts'),
    from: '15_000]',
    to: ['14_000]', '16_000]'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: 'three attempts',
    file: gateway('upstream/supervision/health.ts'),
    from: '[1000, 5000, 15_000]',
    to: ['[1000, 5000]', '[1000, 5000, 15_000, 15_000]'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: '30 s of running',
    file: gateway('upstream/supervision/health.ts'),
    from: 'settledAfterMs: 30_000',
    to: ['settledAfterMs: 20_000', 'settledAfterMs: 40_000'],
    proofs: [settled],
  },
  {
    id: 'HEALTH-2',
    number: '5 s without an answer',
    file: gateway('upstream/supervision/health.ts'),
    from: 'silenceMs: 5000',
    to: ['silenceMs: 4000', 'silenceMs: 6000'],
    proofs: [
      test(
        'upstream/supervision/supervisor.test.ts',
        'a connected server that does not answer a probe within 5 s is lost',
      ),
    ],
  },
  {
    id: 'HEALTH-2',
    number: '5 minutes between attempts to reach it',
    file: gateway('upstream/supervision/health.ts'),
    from: 'reachEveryMs: 300_000',
    to: ['reachEveryMs: 240_000', 'reachEveryMs: 360_000'],
    proofs: [test('upstream/supervision/health.test.ts', 'is tried every 5 minutes')],
  },
  {
    id: 'HEALTH-2',
    number: '30 s of running',
    file: gateway('upstream/pool/legacy-connections.ts'),
    from: 'SETTLED_MS = 30_000',
    to: ['SETTLED_MS = 20_000', 'SETTLED_MS = 40_000'],
    proofs: [test('upstream/pool/legacy-connections.test.ts', 'at most three times in a row')],
  },
  {
    id: 'HEALTH-2',
    number: 'three attempts',
    file: gateway('upstream/pool/legacy-connections.ts'),
    from: 'MOST_FAILURES = 3',
    to: ['MOST_FAILURES = 2', 'MOST_FAILURES = 4'],
    proofs: [test('upstream/pool/legacy-connections.test.ts', 'at most three times in a row')],
  },
  {
    id: 'HEALTH-5',
    number: '1,000 calls in the queue',
    file: gateway('call/stages/limits/call-queue.ts'),
    from: 'LONGEST_QUEUE = 1000',
    to: ['LONGEST_QUEUE = 999', 'LONGEST_QUEUE = 1001'],
    proofs: [test('call/stages/limits/call-queue.test.ts', 'the call queue is full when 1000 calls wait')],
  },
  {
    id: 'HEALTH-5',
    number: '−1 for no limit',
    file: gateway('call/stages/limits/call-limits.ts'),
    from: 'limit === -1',
    to: ['limit === -2', 'limit === 0'],
    proofs: [noLimit],
  },
  {
    id: 'HEALTH-5',
    number: '−1 for no limit',
    file: gateway('call/stages/limits/call-limits.ts'),
    from: 'limit !== -1',
    to: ['limit !== -2', 'limit !== 0'],
    proofs: [noLimit],
  },
  {
    id: 'HEALTH-6',
    number: '3 retries',
    file: gateway('call/stages/retry-when-lost.ts'),
    from: 'MAX_RETRIES = 3',
    to: ['MAX_RETRIES = 2', 'MAX_RETRIES = 4'],
    proofs: [
      test(
        'call/stages/retry-when-lost.test.ts',
        'a repeatable call is made again three times, and others never',
      ),
    ],
  },
  {
    id: 'HEALTH-6',
    number: 'no retry of other calls',
    file: gateway('call/stages/retry-when-lost.ts'),
    from: 'target.isRepeatable !== true',
    to: ['target.isRepeatable === undefined'],
    proofs: [
      test(
        'call/stages/retry-when-lost.test.ts',
        'a repeatable call is made again three times, and others never',
      ),
    ],
  },
  {
    id: 'HEALTH-7',
    number: '16 MiB of history',
    file: gateway('state/history-files.ts'),
    from: 'largestFolder: 16 *',
    to: ['largestFolder: 12 *', 'largestFolder: 20 *'],
    proofs: [test('state/history-files.test.ts', 'files have 4 MiB each and 16 MiB together')],
  },
  {
    id: 'HEALTH-7',
    number: '4 MiB in a file',
    file: gateway('state/history-files.ts'),
    from: 'largestFile: 4 *',
    to: ['largestFile: 3 *', 'largestFile: 5 *'],
    proofs: [test('state/history-files.test.ts', 'files have 4 MiB each and 16 MiB together')],
  },
  ...[
    ['[...own, ...common', '[...common'],
    ['({ serverId }) => serverId === id', '() => true'],
    ['inheritToChildren: true, ...binding', '...binding'],
    ['...binding, serverId: id', '...binding, serverId: binding.serverId ?? ""'],
  ].map(([from = '', to = '']) => ({
    id: 'HEALTH-8',
    number: 'the bindings of a server',
    file: gateway('api/server-config.ts'),
    from,
    to: [to],
    proofs: [test('api/server-config.test.ts', 'merges the section bindings')],
  })),
];
