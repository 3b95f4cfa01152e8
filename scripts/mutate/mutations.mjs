// @ts-check
/**
 * @typedef {object} Mutation A number of a requirement, where the code has it, and wrong texts in its place.
 * @property {string} id
 * @property {string} number as tests/requirements.ts has it, or a rule beside the numbers
 * @property {string} file from the root
 * @property {string} from found exactly once in the file
 * @property {readonly string[]} to
 * @property {readonly import('./run-tests.mjs').Proof[]} proofs tests of which at least one fails with the wrong text
 * @property {true} [slow] takes longer than a few seconds; `npm run mutate -- --all`
 */

/** @param {string} path */
const gateway = (path) => `packages/gateway/src/${path}`;

/**
 * @param {string} path
 * @param {string} name a part of the full name
 */
const test = (path, name) => ({ file: gateway(path), name });

const starts = test('upstream/deadline.test.ts', '');
const lost = test('upstream/supervisor.test.ts', 'is tried after 1, 5 and 15 s, then disabled for good');
const settled = test('upstream/supervisor.test.ts', 'counts as back after 30 s, not before');
const revisions = test('wire/era.test.ts', 'all revisions of both eras are known');
const container = test('upstream/container/create-arguments.test.ts', '');
const exitCodes = { file: 'packages/cli/src/run.test.ts', name: 'a command ends with 0, 1' };

/** @type {readonly Mutation[]} */
export const MUTATIONS = [
  {
    id: 'AGG-CHILD-1',
    number: '2 × cores at a time',
    file: gateway('upstream/means.ts'),
    from: '2 * availableParallelism()',
    to: ['availableParallelism()', '3 * availableParallelism()'],
    proofs: [test('upstream/means.test.ts', 'as many servers start at a time')],
  },
  {
    id: 'AGG-CHILD-1',
    number: '1 s of silence',
    file: gateway('upstream/slots.ts'),
    from: 'silenceMs = 1000',
    to: ['silenceMs = 900', 'silenceMs = 1100'],
    proofs: [test('upstream/slots.test.ts', 'gives up its place after a second, and not before')],
  },
  {
    id: 'AGG-CHILD-2',
    number: '5 s',
    file: gateway('upstream/patience.ts'),
    from: 'startup: 5000',
    to: ['startup: 4000', 'startup: 6000'],
    proofs: [starts],
  },
  {
    id: 'AGG-CHILD-2',
    number: '60 s for launchers',
    file: gateway('upstream/patience.ts'),
    from: 'startup: 60_000, longest: 60_000',
    to: ['startup: 50_000, longest: 50_000', 'startup: 70_000, longest: 70_000'],
    proofs: [starts],
  },
  {
    id: 'AGG-CHILD-2',
    number: '30 s at most',
    file: gateway('upstream/patience.ts'),
    from: 'startup: 5000, longest: 30_000',
    to: ['startup: 5000, longest: 25_000', 'startup: 5000, longest: 35_000'],
    proofs: [starts],
  },
  {
    id: 'AGG-CHILD-2',
    number: '2 × cores before a limit grows',
    file: gateway('upstream/means.ts'),
    from: '2 * availableParallelism()',
    to: ['availableParallelism()', '3 * availableParallelism()'],
    proofs: [test('upstream/means.test.ts', 'limits grow once more servers start')],
  },
  {
    id: 'AGG-CHILD-3',
    number: 'exit code 1',
    file: 'packages/cli/src/run.ts',
    from: 'FAILED: 1',
    to: ['FAILED: 0', 'FAILED: 3'],
    proofs: [exitCodes],
  },
  {
    id: 'AGG-CHILD-5',
    number: '2 s after the end of input',
    file: gateway('upstream/process-group.ts'),
    from: 'eofMs: 2000',
    to: ['eofMs: 1000', 'eofMs: 3000'],
    proofs: [test('upstream/process-group.test.ts', 'the stages are two seconds each')],
  },
  {
    id: 'AGG-CHILD-5',
    number: '2 s after SIGTERM',
    file: gateway('upstream/process-group.ts'),
    from: 'termMs: 2000',
    to: ['termMs: 1000', 'termMs: 3000'],
    proofs: [test('upstream/process-group.test.ts', 'the stages are two seconds each')],
  },
  {
    id: 'AGG-REG-1',
    number: 'the key that addServerTools is given',
    file: gateway('registry/tool-registry.ts'),
    from: 'this.serverKey = serverKey;',
    to: ["this.serverKey = '';"],
    proofs: [test('registry/tool-registry.test.ts', 'holds what it was given')],
  },
  {
    id: 'AGG-REG-1',
    number: 'removal by the key of the entry',
    file: gateway('registry/tool-registry.ts'),
    from: 'if (entry.serverKey === serverKey)',
    to: ['if (name.startsWith(serverKey))', 'if (name.startsWith(`${serverKey}:`))'],
    proofs: [test('registry/tool-registry.test.ts', 'loses the tools of one server by its key')],
  },
  {
    id: 'AGG-REG-1',
    number: 'the first of two equal names',
    file: gateway('registry/tool-registry.ts'),
    from: ' || registry.has(publicName)',
    to: [''],
    proofs: [test('registry/tool-registry.test.ts', 'keeps the first of two equal names')],
  },
  {
    id: 'AGG-REG-1',
    number: 'neither part of a name is empty',
    file: gateway('registry/names.ts'),
    from: 'at <= 0 || at + separator.length === prefixedName.length',
    to: [
      'at < 0 || at + separator.length === prefixedName.length',
      'at <= 0',
      'at < 0 || at === prefixedName.length - 1',
    ],
    proofs: [test('registry/names.test.ts', 'a public name is parsed')],
  },
  {
    id: 'AGG-REG-3',
    number: '1 s after the last one became ready',
    file: gateway('upstream/start-all.ts'),
    from: 'LATECOMERS_MS = 1000',
    to: ['LATECOMERS_MS = 900', 'LATECOMERS_MS = 1100'],
    proofs: [test('upstream/start-all.test.ts', 'waits for latecomers until a second')],
  },
  {
    id: 'AGG-SEP-3',
    number: '64 characters',
    file: gateway('registry/names.ts'),
    from: 'LONGEST_SAFE_NAME = 64',
    to: ['LONGEST_SAFE_NAME = 63', 'LONGEST_SAFE_NAME = 65'],
    proofs: [test('registry/names.test.ts', 'has at most 64 characters')],
  },
  {
    id: 'AGG-SEP-3',
    number: '64 characters',
    file: gateway('registry/names.ts'),
    from: '{1,64}',
    to: ['{1,63}', '{1,65}'],
    proofs: [test('registry/names.test.ts', 'has at most 64 characters')],
  },
  {
    id: 'AGG-CALL-2',
    number: 'code −32602',
    file: gateway('errors.ts'),
    from: 'INVALID_PARAMS: -32602',
    to: ['INVALID_PARAMS: -32601', 'INVALID_PARAMS: -32600'],
    proofs: [test('errors.test.ts', '')],
  },
  {
    id: 'AGG-CLI-1',
    number: 'exit code 1',
    file: 'packages/cli/src/run.ts',
    from: 'FAILED: 1',
    to: ['FAILED: 2'],
    proofs: [exitCodes],
  },
  {
    id: 'AGG-CLI-1',
    number: 'exit code 2',
    file: 'packages/cli/src/run.ts',
    from: 'USAGE: 2',
    to: ['USAGE: 1', 'USAGE: 64'],
    proofs: [exitCodes],
  },
  ...['lines', 'functions', 'branches', 'statements'].map((what) => ({
    id: 'AGG-QA-1',
    number: 'coverage of 80 %',
    file: 'vitest.config.ts',
    from: `${what}: 80`,
    to: [`${what}: 79`],
    proofs: [{ file: 'tests/toolchain.test.ts', name: 'four fifths of lines, branches and functions' }],
  })),
  ...['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2026-07-28'].map((revision) => ({
    id: 'ERA-1',
    number: revision,
    file: gateway('wire/era.ts'),
    from: `'${revision}'`,
    to: ["'2025-01-01'"],
    proofs: [revisions],
  })),
  {
    id: 'ERA-4',
    number: '2 s',
    file: gateway('upstream/patience.ts'),
    from: 'probe: 2000',
    to: ['probe: 1000', 'probe: 3500'],
    proofs: [test('upstream/handshake.test.ts', 'is greeted in the old way after 2 s')],
  },
  {
    id: 'HEALTH-1',
    number: '30 s between probes',
    file: gateway('upstream/health.ts'),
    from: 'probeEveryMs: 30_000',
    to: ['probeEveryMs: 20_000', 'probeEveryMs: 40_000'],
    proofs: [test('upstream/supervisor.test.ts', 'is asked every 30 s whether it is there')],
  },
  {
    id: 'HEALTH-2',
    number: '1 s before the first attempt',
    file: gateway('upstream/health.ts'),
    from: 'backOffMs: [1000,',
    to: ['backOffMs: [0,', 'backOffMs: [2000,'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: '5 s before the second',
    file: gateway('upstream/health.ts'),
    from: '5000, 15_000]',
    to: ['4000, 15_000]', '6000, 15_000]'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: '15 s before the third',
    file: gateway('upstream/health.ts'),
    from: '15_000]',
    to: ['14_000]', '16_000]'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: 'three attempts',
    file: gateway('upstream/health.ts'),
    from: '[1000, 5000, 15_000]',
    to: ['[1000, 5000]', '[1000, 5000, 15_000, 15_000]'],
    proofs: [lost],
  },
  {
    id: 'HEALTH-2',
    number: '30 s of running',
    file: gateway('upstream/health.ts'),
    from: 'settledAfterMs: 30_000',
    to: ['settledAfterMs: 20_000', 'settledAfterMs: 40_000'],
    proofs: [settled],
  },
  {
    id: 'HEALTH-2',
    number: '5 s without an answer',
    file: gateway('upstream/health.ts'),
    from: 'silenceMs: 5000',
    to: ['silenceMs: 4000', 'silenceMs: 6000'],
    proofs: [test('upstream/supervisor.test.ts', 'that is silent for 5 s is lost')],
  },
  {
    id: 'HEALTH-5',
    number: '1,000 calls in the queue',
    file: gateway('call/queue.ts'),
    from: 'LONGEST_QUEUE = 1000',
    to: ['LONGEST_QUEUE = 999', 'LONGEST_QUEUE = 1001'],
    proofs: [test('call/queue.test.ts', 'fill the queue when 1000 of them wait')],
  },
  {
    id: 'HEALTH-6',
    number: '3 retries',
    file: gateway('call/retry.ts'),
    from: 'MAX_RETRIES = 3',
    to: ['MAX_RETRIES = 2', 'MAX_RETRIES = 4'],
    proofs: [test('call/retry.test.ts', 'is made again three times, others never')],
  },
  {
    id: 'HEALTH-6',
    number: 'no retry of other calls',
    file: gateway('call/retry.ts'),
    from: 'target.isRepeatable !== true',
    to: ['target.isRepeatable === undefined'],
    proofs: [test('call/retry.test.ts', 'is made again three times, others never')],
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
  {
    id: 'MANAGED-1',
    number: '127.0.0.1',
    file: gateway('upstream/container/create-arguments.ts'),
    from: '--publish=127.0.0.1:',
    to: ['--publish=0.0.0.0:', '--publish='],
    proofs: [container],
  },
  {
    id: 'MANAGED-2',
    number: '2 GB of memory, 1 CPU, 512 processes',
    file: gateway('upstream/container/create-arguments.ts'),
    from: "memory: '2g', cpus: 1",
    to: ["memory: '4g', cpus: 1", "memory: '2g', cpus: 2"],
    proofs: [container],
  },
  {
    id: 'MANAGED-2',
    number: '2 GB of memory, 1 CPU, 512 processes',
    file: gateway('upstream/container/create-arguments.ts'),
    from: 'MOST_PROCESSES = 512',
    to: ['MOST_PROCESSES = 1024'],
    proofs: [container],
  },
  {
    id: 'MANAGED-3',
    number: 'every minute',
    file: gateway('upstream/container/containers.ts'),
    from: 'REAP_EVERY_MS = 60_000',
    to: ['REAP_EVERY_MS = 50_000', 'REAP_EVERY_MS = 70_000'],
    proofs: [test('upstream/container/containers.test.ts', 'at the start and every minute')],
  },
  {
    id: 'SAFE-1',
    number: 'loopback unless told otherwise',
    file: gateway('front/http/serve.ts'),
    from: "DEFAULT_HOST = '127.0.0.1'",
    to: ["DEFAULT_HOST = '0.0.0.0'"],
    proofs: [test('front/http/serve.test.ts', 'is unless another address is named')],
  },
  {
    id: 'SAFE-1',
    number: 'no other address without a token',
    file: gateway('front/http/serve.ts'),
    from: 'token === undefined && !isLoopback(host)',
    to: ['false', "token === undefined && host !== '0.0.0.0' && !isLoopback(host)"],
    proofs: [test('front/http/serve.test.ts', 'nothing listens on')],
  },
];
