#!/usr/bin/env node
// @ts-check
// `npm run mutate`: writes a wrong number in place of each number that a requirement names, one at a time, and runs the tests
// that prove it; each has to be caught. `--all` runs also what takes long, an id such as HEALTH-2 only what belongs to it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MUTATIONS } from './mutate/mutations.mjs';
import { runTests } from './mutate/run-tests.mjs';
import { root } from './steps.mjs';

/** @typedef {import('./mutate/mutations.mjs').Mutation} Mutation */
/** @typedef {import('./mutate/run-tests.mjs').Outcome} Outcome */
/** @typedef {{ mutation: Mutation; to: string; name: string }} Mutant One wrong text in place of the right one. */
/** @typedef {'caught' | 'survived' | 'stale' | 'skipped'} Verdict */

/** Each takes memory in the vitest that tries them. */
const AT_A_TIME = 25;

const ids = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isAll = process.argv.includes('--all') || ids.length > 0;
const chosen = MUTATIONS.filter(
  ({ id, slow }) => (isAll || slow !== true) && (ids.length === 0 || ids.includes(id)),
);

/** @type {Record<Verdict, number>} */
const counts = { caught: 0, survived: 0, stale: 0, skipped: 0 };
const began = performance.now();

const right = await outcomesWithRightNumbers();
const mutants = chosen.flatMap((mutation, at) =>
  mutation.to.map((to, index) => ({ mutation, to, name: `${at}-${index}` })),
);
const tried = mutants.filter((mutant) => isReady(mutant));
for (let at = 0; at < tried.length; at += AT_A_TIME) await tryAll(tried.slice(at, at + AT_A_TIME));
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(
  `${counts.caught} wrong numbers caught, ${counts.survived} survived, ${counts.stale} stale, ${counts.skipped} skipped, in ${seconds} s`,
);
process.exitCode = counts.survived + counts.stale > 0 ? 1 : 0;

/** @returns {Promise<(mutation: Mutation) => Outcome[]>} */
async function outcomesWithRightNumbers() {
  const proofs = chosen.flatMap((mutation) => mutation.proofs);
  const files = [...new Set(proofs.map(({ file }) => file))];
  const outcomeOf = await runTests([{ name: 'right', files }], proofs);
  return (mutation) => mutation.proofs.map((proof) => outcomeOf('right', proof));
}

/**
 * Tells of a mutant that cannot be tried.
 * @param {Mutant} mutant
 */
function isReady(mutant) {
  const { file, from } = mutant.mutation;
  const found = readFileSync(join(root, file), 'utf8').split(from).length - 1;
  const before = right(mutant.mutation);
  if (found !== 1) tell('stale', mutant, `found ${found} times in ${file}`);
  else if (before.includes('skipped')) tell('skipped', mutant, 'its tests do not run on this machine');
  else if (before.includes('missing')) tell('stale', mutant, 'there is no such test');
  else if (before.includes('failed')) tell('stale', mutant, 'its tests fail with the right number, too');
  else return true;
  return false;
}

/** @param {readonly Mutant[]} batch */
async function tryAll(batch) {
  const runs = batch.map(({ mutation: { file, from, proofs }, to, name }) => ({
    name,
    files: [...new Set(proofs.map((proof) => proof.file))],
    replacement: { file, from, to },
  }));
  const outcomeOf = await runTests(
    runs,
    batch.flatMap(({ mutation }) => mutation.proofs),
  );
  for (const mutant of batch) {
    const outcomes = mutant.mutation.proofs.map((proof) => outcomeOf(mutant.name, proof));
    if (outcomes.includes('failed')) tell('caught', mutant);
    else if (outcomes.includes('missing')) tell('stale', mutant, 'its tests could not be loaded with it');
    else tell('survived', mutant);
  }
}

/**
 * @param {Verdict} verdict
 * @param {Mutant} mutant
 * @param {string} [why]
 */
function tell(verdict, { mutation: { id, number, from, proofs }, to }, why) {
  counts[verdict]++;
  const more =
    verdict === 'caught' ? '' : ` (${[why, ...proofs.map(({ name }) => name)].filter(Boolean).join('; ')})`;
  console.log(`${verdict.padEnd(8)}  ${id.padEnd(11)}  ${number.padEnd(40)}  ${from} → ${to}${more}`);
}
