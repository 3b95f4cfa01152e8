import { defineConfig } from 'vitest/config';
import { shared, tags } from '../../vitest.config.ts';
import { root } from '../steps.mjs';
import { replacing } from './replacing.mjs';
import { RUNS, type Run } from './run-tests.mjs';

// One project for each wrong number, so that one vitest tries many of them.
const runs = JSON.parse(process.env[RUNS] ?? '[]') as Run[];

export default defineConfig({
  root,
  test: {
    tags,
    projects: runs.map(({ name, files, replacement }) => ({
      ...shared,
      plugins: replacement === undefined ? [] : [replacing(replacement)],
      test: {
        name,
        root,
        include: files,
        // Wrong numbers may make a test wait for what never comes.
        testTimeout: 10_000,
      },
    })),
  },
});
