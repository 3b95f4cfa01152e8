// @ts-check
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../steps.mjs';

/** @typedef {{ file: string; name: string }} Proof A test: its file from the root, and a part of its full name. */
/** @typedef {{ file: string; from: string; to: string }} Replacement */
/** @typedef {{ name: string; files: string[]; replacement?: Replacement }} Run Test files, and what is wrong while they run. */
/** @typedef {{ run: string; file: string; name: string; state: string }} Test */
/** @typedef {'passed' | 'failed' | 'skipped' | 'missing'} Outcome */

/** Variables that tell vitest's config what to run, and its reporter where to write. */
export const RUNS = 'WEIR_MUTATE_RUNS';
export const REPORT = 'WEIR_MUTATE_REPORT';

const RUN_TIMEOUT_MS = 300_000;

/**
 * Runs the named tests of all runs in one vitest.
 * @param {readonly Run[]} runs
 * @param {readonly Proof[]} proofs
 * @returns {Promise<(run: string, proof: Proof) => Outcome>}
 */
export async function runTests(runs, proofs) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-mutate-'));
  const report = join(folder, 'report.json');
  const names = new Set(proofs.map(({ name }) => escaped(name)));
  try {
    await vitest([`--testNamePattern=${[...names].join('|')}`], {
      [RUNS]: JSON.stringify(runs),
      [REPORT]: report,
    });
    const tests = testsIn(report);
    return (run, { file, name }) =>
      outcomeOf(tests.filter((test) => test.run === run && test.file === file && test.name.includes(name)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} variables
 * @returns {Promise<void>}
 */
function vitest(args, variables) {
  const options = ['--config=scripts/mutate/vitest.config.ts', '--reporter=./scripts/mutate/reporter.mjs'];
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...args], {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: 'ignore',
    timeout: RUN_TIMEOUT_MS,
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
}

/**
 * @param {string} report
 * @returns {Test[]} none where vitest has not come to its end
 */
function testsIn(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return [];
  }
}

/**
 * @param {readonly Test[]} tests
 * @returns {Outcome}
 */
function outcomeOf(tests) {
  if (tests.length === 0) return 'missing';
  if (tests.some(({ state }) => state === 'failed' || state === 'pending')) return 'failed';
  return tests.every(({ state }) => state === 'passed') ? 'passed' : 'skipped';
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
