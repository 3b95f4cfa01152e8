// @ts-check
// Runs the tests of the cases by vitest and tells what became of each case.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../steps.mjs';
import { numbersOf } from './cases.mjs';

/** @typedef {import('./cases.mjs').Case} Case */
/** @typedef {{ passed: string[]; failed: string[]; skipped: string[] }} Verdict titles of the tests of one case */

const FOLDER = 'tests/attack';
const report = join(root, '.cache', 'attack.json');

/**
 * @param {readonly Case[]} cases
 * @returns {Map<string, Verdict>} by number
 */
export function runTests(cases) {
  if (cases.length === 0) return new Map();
  const elsewhere = cases.flatMap((one) => one.elsewhere);
  const files = [FOLDER, ...new Set(elsewhere.map(([file]) => file))];
  const titles = [
    ...cases.map(({ number }) => `(?:^|[\\] ,])${number}(?:, [HML]?\\d+)*: `),
    ...elsewhere.map(([, title]) => title.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)),
  ];
  mkdirSync(join(root, '.cache'), { recursive: true });
  rmSync(report, { force: true });
  spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...files,
      '-t',
      titles.join('|'),
      '--reporter=json',
      `--outputFile=${report}`,
    ],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const tests = readReport();
  return new Map(cases.map((one) => [one.number, verdictOf(one, tests)]));
}

/** @typedef {{ file: string; title: string; numbers: string[]; status: string }} Test */

/** @returns {Test[]} */
function readReport() {
  /** @type {{ testResults: { name: string; assertionResults: { title: string; ancestorTitles: string[]; status: string }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ title, ancestorTitles, status }) => ({
      file: relative(root, name),
      title,
      numbers: [title, ...ancestorTitles].flatMap((one) => numbersOf(one)),
      status,
    })),
  );
}

/**
 * @param {Case} one
 * @param {readonly Test[]} tests
 * @returns {Verdict}
 */
function verdictOf({ number, elsewhere }, tests) {
  const own = tests.filter(
    ({ file, title, numbers }) =>
      (file.startsWith(`${FOLDER}/`) && numbers.includes(number)) ||
      elsewhere.some(([where, part]) => file === where && title.includes(part)),
  );
  const of = (/** @type {string} */ status) =>
    own.filter((test) => test.status === status).map(({ title }) => title);
  return { passed: of('passed'), failed: of('failed'), skipped: [...of('skipped'), ...of('pending')] };
}
