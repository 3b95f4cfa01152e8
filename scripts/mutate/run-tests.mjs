// @ts-check
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { root } from '../steps.mjs';
import { MUTATION } from './plugin.mjs';

/** @typedef {{ file: string; name: string }} Proof A test: its file from the root, and a part of its full name. */
/** @typedef {{ file: string; from: string; to: string }} Replacement */
/** @typedef {'passed' | 'failed' | 'skipped' | 'missing'} Outcome */
/** @typedef {{ file: string; fullName: string; status: string }} Test */

/** Wrong numbers may make a test wait for what never comes. */
const OPTIONS = ['--testTimeout=10000', '--retry=0', '--passWithNoTests'];
const RUN_TIMEOUT_MS = 120_000;

/**
 * Runs the named tests and no others.
 * @param {readonly Proof[]} proofs
 * @param {Replacement} [replacement] what is wrong while they run
 */
export async function runTests(proofs, replacement) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-mutate-'));
  try {
    const report = join(folder, 'report.json');
    const files = new Set(proofs.map(({ file }) => file));
    const names = proofs.map(({ name }) => escaped(name)).join('|');
    const workers = replacement === undefined ? [] : ['--maxWorkers=1'];
    const args = [
      ...files,
      `--testNamePattern=${names}`,
      '--reporter=json',
      `--outputFile=${report}`,
      ...workers,
    ];
    await vitest(args, replacement);
    const tests = testsIn(report);
    return { outcomeOf: (/** @type {Proof} */ proof) => outcomeOf(proof, tests) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} args
 * @param {Replacement | undefined} replacement
 * @returns {Promise<void>}
 */
function vitest(args, replacement) {
  const env = { ...process.env, ...(replacement && { [MUTATION]: JSON.stringify(replacement) }) };
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...OPTIONS, ...args], {
    cwd: root,
    env,
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
  /** @type {{ testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[] }} */
  let results;
  try {
    results = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return [];
  }
  return results.testResults.flatMap(({ name, assertionResults }) => {
    const file = relative(root, name).split(sep).join('/');
    return assertionResults.map(({ fullName, status }) => ({ file, fullName, status }));
  });
}

/**
 * @param {Proof} proof
 * @param {readonly Test[]} tests
 * @returns {Outcome}
 */
function outcomeOf({ file, name }, tests) {
  const named = tests.filter((test) => test.file === file && test.fullName.includes(name));
  if (named.length === 0) return 'missing';
  if (named.some(({ status }) => status === 'failed')) return 'failed';
  return named.every(({ status }) => status === 'passed') ? 'passed' : 'skipped';
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
