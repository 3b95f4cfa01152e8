#!/usr/bin/env node
// @ts-check
// `npm test`: everything that CI runs. `--static` stops before the tests (`npm run check`); `--quick` runs the unit tests and
// those with real processes that are not slow (`npm run test:quick`).
// Ends with one line, "N passed, N failed, N skipped"; each static check counts as one. What was skipped is named above it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findCommand } from './debian-packages.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureBuilt } from './setup.mjs';
import { root } from './steps.mjs';

/** @typedef {'passed' | 'failed' | 'skipped'} Outcome */
/** @typedef {{ name: string; outcome: Outcome; why: string[] }} Line Why it failed, or failed at first. */

const bin = {
  oxfmt: 'node_modules/oxfmt/bin/oxfmt',
  oxlint: 'node_modules/oxlint/bin/oxlint',
  tsc: 'node_modules/typescript/bin/tsc',
  knip: 'node_modules/knip/bin/knip.js',
  publint: 'node_modules/publint/src/cli.js',
  attw: 'node_modules/@arethetypeswrong/cli/dist/index.js',
  vitest: 'node_modules/vitest/vitest.mjs',
};
const report = join(root, '.cache', 'vitest.json');
const proofs = join(root, '.cache', 'proofs.json');
const judges = join(root, 'tests', 'judges');
const otherNodes = ['node22', 'node24'];

/** @type {Line[]} */
const lines = [];

await staticChecks();
if (process.argv.includes('--quick')) quickTests();
else if (!process.argv.includes('--static')) {
  installJudges();
  vitest();
  // Side by side: the first uses one core for most of its time.
  const mutations = quietly(['scripts/mutate.mjs']);
  for (const name of otherNodes) await unitTestsOn(name);
  checkOutput('wrong numbers are caught', await mutations);
}
finish();

/** All at the same time, because most of them use one core; the output of each is printed whole, in this order. */
async function staticChecks() {
  check('build', ensureBuilt);
  /** @type {[name: string, args: string[]][]} */
  const checks = [
    ['format', [bin.oxfmt, '--check']],
    ['lint', [bin.oxlint, '--type-aware', '--deny-warnings', '--report-unused-disable-directives']],
    ['types', [bin.tsc, '-b']],
    ['unused code and dependencies', [bin.knip]],
    ['package @weir/server', [bin.publint, 'packages/server', '--strict']],
    ['package @weir/gateway', [bin.publint, 'packages/gateway', '--strict']],
    ['package mcp-weir', [bin.publint, 'packages/cli', '--strict']],
    // The command has no types.
    ...['server', 'gateway'].map((name) => typesOf(name)),
    ['generated files are up to date', ['packages/gateway/scripts/generate-config.mjs', '--check']],
  ];
  const runs = checks.map(([, args]) => quietly(args));
  for (const [index, [name]] of checks.entries())
    checkOutput(name, await /** @type {ReturnType<typeof quietly>} */ (runs[index]));
  checkShell();
}

/**
 * Judges the types of a package as it is packed.
 * @param {string} name
 * @returns {[name: string, args: string[]]}
 */
function typesOf(name) {
  // Prints six lines for each entry that is fine, too: run it without --quiet for the reason of a failure.
  const args = ['--pack', `packages/${name}`, '--profile', 'esm-only', '--quiet'];
  return [`types of @weir/${name} for its users`, [bin.attw, ...args]];
}

/** The tests that neither wait nor work for long, without coverage. */
function quickTests() {
  rmSync(report, { force: true });
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const status = node([
    bin.vitest,
    'run',
    '--project=unit',
    '--project=e2e',
    '--tags-filter=!slow',
    ...reporters,
  ]);
  const failed = existsSync(report) ? readReport({ isSkippedCounted: false }) : 0;
  if (failed === 0) add('no error outside a test', status === 0 ? 'passed' : 'failed');
}

/** Judges the guard by shellcheck, which is Debian's where there is no other. */
function checkShell() {
  const name = 'shell program of the guard';
  const shellcheck = findCommand('shellcheck', ['shellcheck'])?.path;
  if (shellcheck === undefined) return add(`${name} (needs shellcheck)`, 'skipped');
  check(name, () => {
    const program = join('packages', 'gateway', 'src', 'upstream', 'process', 'guard.sh');
    const { status } = spawnSync(shellcheck, [program], { cwd: root, stdio: 'inherit' });
    if (status !== 0) throw new Error(`shellcheck ended with exit code ${status}`);
  });
}

function installJudges() {
  check('real servers to run', () =>
    ensureInstalled(join(root, 'tests', 'fleet'), 'real MCP servers for the tests'),
  );
  if (hasOtherNodes()) check('judges to be judged by', () => ensureInstalled(judges, 'judges for the tests'));
  else add('judges to be judged by (only for linux-x64)', 'skipped');
}

// Unit tests and tests with real processes, with coverage; vitest's own verdict counts as one more check.
function vitest() {
  mkdirSync(join(root, '.cache'), { recursive: true });
  for (const file of [report, proofs]) rmSync(file, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', '--reporter=./tests/support/proof-reporter.ts'];
  const args = ['run', '--coverage', ...reporters, `--outputFile.json=${report}`];
  const status = node([bin.vitest, ...args]);
  const failed = existsSync(report) ? readReport() : 0;
  if (failed === 0) add('coverage of 80 %, no error outside a test', status === 0 ? 'passed' : 'failed');
  check('requirements are proved by tests that passed', readProofs);
}

/** Names the requirements that this machine cannot prove; throws where one is not proved at all. */
function readProofs() {
  /** @type {{ proved: string[]; unprovenHere: { id: string; skipped: string[] }[]; unproved: string[]; stray: string[] }} */
  const { proved, unprovenHere, unproved, stray } = JSON.parse(readFileSync(proofs, 'utf8'));
  for (const { id, skipped } of unprovenHere)
    add(
      `requirement ${id} is unproven here: ${skipped.length} of its tests were skipped, none ran`,
      'skipped',
    );
  console.log(`${proved.length} requirements proved, ${unprovenHere.length} unproven here`);
  const faults = [
    ...unproved.map((id) => `${id}: no test that passed begins with [${id}]`),
    ...stray.map(
      (id) => `${id}: a test cites it, but tests/requirements.ts has no such id or counts it as not begun`,
    ),
  ];
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/**
 * Counts every test, and returns how many failed.
 * @param {{ isSkippedCounted?: boolean }} [options] tests that a filter leaves out are reported as skipped, too
 */
function readReport({ isSkippedCounted = true } = {}) {
  const tests = testsIn(report).filter(({ outcome }) => isSkippedCounted || outcome !== 'skipped');
  lines.push(...tests);
  return tests.filter(({ outcome }) => outcome === 'failed').length;
}

/**
 * @param {string} results
 * @returns {Line[]}
 */
function testsIn(results) {
  /** @type {{ testResults: { name: string; status: string; message?: string; assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
  return testResults.flatMap(({ name, status, message = '', assertionResults }) => {
    const file = relative(root, name);
    /** @type {Line[]} */
    const tests = assertionResults.map((test) => ({
      name: `${file}: ${test.fullName}`,
      outcome: outcomeOf(test.status),
      why: test.failureMessages,
    }));
    // A file that cannot even be loaded has no tests to count.
    const isUnread = status === 'failed' && tests.every(({ outcome }) => outcome !== 'failed');
    return isUnread ? [{ name: `${file} does not run`, outcome: 'failed', why: [message] }, ...tests] : tests;
  });
}

/**
 * @param {string} status
 * @returns {Outcome}
 */
function outcomeOf(status) {
  return status === 'passed' || status === 'failed' ? status : 'skipped';
}

/** @param {string} name */
async function unitTestsOn(name) {
  const label = `unit tests on ${name.replace('node', 'Node ')}`;
  const executable = join(judges, 'node_modules', name, 'bin', 'node');
  if (!hasOtherNodes()) return add(`${label} (only for linux-x64)`, 'skipped');
  const results = join(root, '.cache', `vitest-${name}.json`);
  rmSync(results, { force: true });
  const args = [
    'run',
    '--project',
    'unit',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${results}`,
  ];
  const { status, output } = await quietly([bin.vitest, ...args], executable);
  return check(label, () => {
    console.log(output);
    if (status === 0) return;
    const tests = existsSync(results) ? testsIn(results) : [];
    const failed = tests.filter(({ outcome }) => outcome === 'failed');
    const names = failed.flatMap((test) => [test.name, ...test.why]);
    throw new Error([`vitest ended with exit code ${status}`, ...names].join('\n'));
  });
}

function hasOtherNodes() {
  return process.platform === 'linux' && process.arch === 'x64';
}

/**
 * @param {string} name
 * @param {Awaited<ReturnType<typeof quietly>>} run
 */
function checkOutput(name, { args, status, output }) {
  check(name, () => {
    if (output !== '') console.log(output);
    if (status !== 0) throw new Error(`"${args.join(' ')}" ended with exit code ${status}`);
  });
}

/**
 * @param {string} name
 * @param {() => void} body
 */
function check(name, body) {
  console.log(`\n— ${name}`);
  try {
    body();
    add(name, 'passed');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.log(why);
    add(name, 'failed', [why]);
  }
}

/** @param {string[]} args */
function node(args) {
  const { status, signal, error } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status ?? signal ?? error?.message;
}

/**
 * Runs Node on a script and keeps what it prints.
 * @param {string[]} args
 * @param {string} [executable]
 * @returns {Promise<{ args: string[]; status: number | string | null; output: string }>}
 */
function quietly(args, executable = process.execPath) {
  const child = spawn(executable, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ args, status: error.message, output }));
    child.once('close', (code, signal) => resolve({ args, status: code ?? signal, output: output.trim() }));
  });
}

/**
 * @param {string} name
 * @param {Outcome} outcome
 * @param {string[]} [why]
 */
function add(name, outcome, why = []) {
  lines.push({ name, outcome, why });
}

function finish() {
  console.log('');
  for (const { name } of of('skipped')) console.log(`skipped: ${name}`);
  for (const line of of('passed').filter(({ why }) => why.length > 0))
    explain('passed at the second try', line);
  for (const line of of('failed')) explain('failed', line);
  console.log(
    `${of('passed').length} passed, ${of('failed').length} failed, ${of('skipped').length} skipped`,
  );
  process.exitCode = of('failed').length > 0 ? 1 : 0;
}

/**
 * Often only the last lines of a run are kept: they tell why it failed, too.
 * @param {string} outcome
 * @param {Line} line
 */
function explain(outcome, { name, why }) {
  console.log(`${outcome}: ${name}`);
  for (const reason of why) {
    const telling = reason.split('\n').filter((row) => !row.includes('/node_modules/'));
    console.log(telling.slice(0, 12).join('\n').replaceAll(/^/gm, '  '));
  }
}

/** @param {Outcome} outcome */
function of(outcome) {
  return lines.filter((line) => line.outcome === outcome);
}
