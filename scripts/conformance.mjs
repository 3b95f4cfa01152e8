#!/usr/bin/env node
// @ts-check
// `npm run conformance`: the official suite judges our servers, directly and through the gateway, and clients through it.
// Prints every scenario with its passed and failed checks; exit code 1 where the gateway makes a difference.
import { spawnSync } from 'node:child_process';
import { ensureBuilt } from './setup.mjs';
import { root, runMain } from './steps.mjs';

await runMain(() => {
  ensureBuilt();
  const files = ['tests/judges/through-gateway.test.ts', 'tests/judges/client-scenarios.test.ts'];
  const options = ['--project', 'long', '--reporter=default', '--disableConsoleIntercept=true'];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...files, ...options],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, WEIR_CONFORMANCE_TABLE: 'whole' },
    },
  );
  process.exitCode = status ?? 1;
});
