import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Tests run the packages from source: no build stands between an edit and its test. Neither `import` nor `module` is
// named here: test processes would take them for `require` too, which breaks packages that have a file for each.
const conditions = ['@weir/source', 'node', 'default'];

/** How every project finds the packages. */
export const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};

/** Tags that tests may have; every config that runs tests has to know them. */
export const tags = [
  {
    name: 'slow',
    description: 'waits for seconds or works for seconds; `npm run test:quick` leaves it out',
  },
];

const cores = availableParallelism();

/** Folders of tests that take a while as a whole: `npm run test:quick` leaves them out. */
const LONG = 'tests/{attack,docker,fleet,judges,matrix,tools}/**/*.test.ts';

/** Files that take longest. The whole run would wait for the one that began last. */
const LONGEST = [
  'tools/bench',
  'judges/through-gateway',
  'attack/account',
  'tools/chaos',
  'judges/client-scenarios',
  'judges/inspector-stdio',
  'docker/containers',
  'matrix/matrix',
];

/** Begins with the longest files: vitest knows how long each takes only from an earlier run, which a fresh clone has not seen. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Options of all tests with real processes. */
const withProcesses = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // They wait more than they work, so two files a core run at a time.
  maxWorkers: 2 * cores,
  // They race with real clocks, which a machine that stands still for a second decides. `npm test` names each.
  retry: 1,
  // They run when the unit tests are through.
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    tags,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: ['packages/**/*.test.ts'],
          // The test in the template of `weir new` is one of node:test.
          exclude: ['**/node_modules/**', '**/dist/**', '**/template/**'],
          maxWorkers: cores,
          // A process a file would cost as much as the tests themselves.
          isolate: false,
          // `performance` stays real: timers of an earlier file in the same process may read it.
          fakeTimers: {
            toFake: [
              'setTimeout',
              'clearTimeout',
              'setInterval',
              'clearInterval',
              'setImmediate',
              'clearImmediate',
              'Date',
              'hrtime',
            ],
          },
          // Tests of memory collect garbage first, also that of other files in the same process.
          execArgv: ['--expose-gc'],
          // Thousands of random texts take a while where other things run.
          testTimeout: 30_000,
        },
      },
      {
        ...shared,
        test: {
          ...withProcesses,
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', LONG],
        },
      },
      {
        ...shared,
        test: { ...withProcesses, name: 'long', include: [LONG], exclude: ['**/node_modules/**'] },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.case.ts', '**/*.generated.ts', 'packages/gateway/src/config/schema.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 80, functions: 80, branches: 80, statements: 80 },
    },
  },
});
