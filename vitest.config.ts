import { defineConfig } from 'vitest/config';

// Tests run the packages from source: no build stands between an edit and its test.
const conditions = ['@weir/source', 'node', 'import', 'module', 'default'];

/** How every project finds the packages. */
export const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};

export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: ['packages/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
          // Thousands of random texts take a while where other things run.
          testTimeout: 30_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          exclude: ['**/node_modules/**'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // These start processes by the dozen: two files at a time, and only when the unit tests are through.
          maxWorkers: 2,
          // They race with real clocks, which a machine that stands still for a second decides. `npm test` names each.
          retry: 1,
          sequence: { groupOrder: 1 },
        },
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
