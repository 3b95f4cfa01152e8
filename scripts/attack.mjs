#!/usr/bin/env node
// @ts-check
// `npm run attack`: tries every attack of the list, at full size and length.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { callBeside, fight } from './attack/arena.mjs';
import { CASES, SECTIONS } from './attack/cases.mjs';
import { FIGHTS, SIEGE } from './attack/fights.mjs';
import { fuzzHttp, fuzzStdio } from './attack/fuzz.mjs';
import { judge, judgeSpeed } from './attack/judge.mjs';
import { caseTable, fightTable, page } from './attack/report.mjs';
import { runTests } from './attack/run-tests.mjs';
import { root, runMain } from './steps.mjs';

/** @typedef {import('./attack/report.mjs').Row} Row */
/** @typedef {{ seconds: number; seed: number; gateway: string | undefined }} Settings */

const USAGE = `npm run attack -- [options]: tries every attack of the list against the built command

  --only CASE    one case by its number (H2, 12), or "fuzz", "siege" or "tests"; may be repeated
  --seconds N    how long the fuzzing and the siege last (60); other attacks last 5 s
  --seed N       repeats the random choices of a run
  --gateway FILE another build of the command
  --write        writes docs/security.md; tries everything
  --help         this text
`;
/** One attack beside honest clients lasts so long; most do their worst in the first second. */
const FIGHT_S = 5;

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      gateway: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(USAGE);
  if (process.platform !== 'linux')
    throw new Error('The attacks need Linux: they find processes through /proc');
  const settings = {
    seconds: whole('seconds', values.seconds),
    seed: whole('seed', values.seed),
    gateway: values.gateway,
  };
  if (values.write && values.only.length > 0) throw new Error('--write tries everything: leave --only out');
  await run(values.only, settings, values.write);
});
process.exit();

/**
 * @param {string} option
 * @param {string} value
 */
function whole(option, value) {
  if (!/^\d{1,9}$/u.test(value)) throw new Error(`--${option} wants a whole number, not '${value}'`);
  return Number(value);
}

/**
 * @param {readonly string[]} only
 * @param {Settings} settings
 * @param {boolean} isWritten
 */
async function run(only, settings, isWritten) {
  const began = new Date();
  const known = [...CASES.map(({ number }) => number), 'tests', 'fuzz', 'siege'];
  const unknown = only.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`There is no case '${unknown}'; there are ${known.join(', ')}`);
  const isWanted = (/** @type {string} */ name) => only.length === 0 || only.includes(name);
  const verdicts = runTests(CASES.filter(({ number }) => isWanted('tests') || only.includes(number)));
  const fights = FIGHTS.filter(
    ({ numbers }) => only.length === 0 || numbers.some((number) => only.includes(number)),
  );
  const rows = await tryFights(fights, settings);
  if (isWanted('fuzz')) rows.push(...(await tryFuzz(settings)));
  const siege = isWanted('siege') ? await trySiege(settings) : undefined;
  if (siege !== undefined) rows.push(siege.row);
  const found = { sections: SECTIONS, verdicts, rows, siege: siege?.text ?? '', began, ...settings };
  if (isWritten) writeFileSync(join(root, 'docs', 'security.md'), page(found));
  process.stdout.write(
    `seed ${settings.seed}\n\n${caseTable(CASES, verdicts)}\n${fightTable(rows)}\n${siege?.text ?? ''}\n`,
  );
  fail(verdicts, rows);
}

/**
 * @param {readonly import('./attack/fights.mjs').Fight[]} fights
 * @param {Settings} settings
 * @returns {Promise<Row[]>}
 */
async function tryFights(fights, { gateway }) {
  /** @type {Row[]} */
  const rows = [];
  for (const { title, numbers, peers } of fights) {
    process.stderr.write(`weir: ${title} …\n`);
    const outcome = await fight(peers, { seconds: FIGHT_S, gateway });
    rows.push({ title, numbers, outcome, broken: judge(outcome) });
  }
  return rows;
}

/**
 * @param {Settings} settings
 * @returns {Promise<Row[]>}
 */
async function tryFuzz({ seconds, seed, gateway }) {
  /** @type {Row[]} */
  const rows = [];
  for (const [where, fuzz] of /** @type {const} */ ([
    ['weir serve', fuzzHttp],
    ['stdio', fuzzStdio],
  ])) {
    process.stderr.write(`weir: fuzzing ${where} for ${seconds / 2} s …\n`);
    const outcome = await fuzz({ seconds: seconds / 2, seed, gateway });
    rows.push({
      title: `fuzzing of clients and servers on ${where}`,
      numbers: ['fuzz'],
      outcome,
      broken: judge(outcome),
    });
  }
  return rows;
}

/**
 * @param {Settings} settings
 * @returns {Promise<{ row: Row; text: string }>}
 */
async function trySiege({ seconds, gateway }) {
  const { title, peers } = SIEGE;
  process.stderr.write(`weir: ${title} for ${seconds} s …\n`);
  const outcome = await fight(peers, { seconds, gateway });
  const burns = Object.entries(outcome.burns);
  process.stderr.write(
    `weir: the same honest load beside ${burns.length} idle processes for ${seconds} s …\n`,
  );
  const beside = await callBeside(
    peers.honest ?? 0,
    burns.map(([, all]) => all),
    { seconds, gateway },
  );
  const broken = [...judge(outcome), ...judgeSpeed(outcome.honest, beside)];
  const cpu = burns.map(([name, all]) => {
    const burnt = all.reduce((sum, { ms }) => sum + ms, 0);
    return `${name} ${(burnt / seconds / 10).toFixed(1)} %`;
  });
  const told = ({ calls, errors, crossed, p50, p99, slowest } = beside) =>
    `${calls} calls, ${errors.length} errors, ${crossed} crossed, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(0)} ms`;
  const text = `Siege, ${seconds} s, ten honest clients of both eras on ten honest servers:

- beside ${title}: ${told(outcome.honest)};
- beside ${burns.length} processes that use as much CPU at the same times and are connected to nothing: ${told(beside)};
- p99 is ${(outcome.honest.p99 / beside.p99).toFixed(2)} × of that, with a bar of 3. Shares of a processor that the hostile peers took: ${cpu.join(', ')}.`;
  return { row: { title, numbers: ['siege'], outcome, broken }, text };
}

/**
 * @param {Map<string, import('./attack/run-tests.mjs').Verdict>} verdicts
 * @param {readonly Row[]} rows
 */
function fail(verdicts, rows) {
  const tests = [...verdicts].filter(([, { failed }]) => failed.length > 0).map(([number]) => number);
  const fights = rows.filter(({ broken }) => broken.length > 0).map(({ title }) => title);
  if (tests.length + fights.length > 0)
    throw new Error(`Promises were broken: ${[...tests, ...fights].join('; ')}`);
}
