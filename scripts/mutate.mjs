#!/usr/bin/env node
// @ts-check
// `npm run mutate`: writes a wrong number in place of each number that a requirement names, one at a time, and runs the tests
// that prove it; each has to be caught. `--all` runs also what takes long, an id such as HEALTH-2 only what belongs to it.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { MUTATIONS } from './mutate/mutations.mjs';
import { runTests } from './mutate/run-tests.mjs';
import { root } from './steps.mjs';

/** @typedef {import('./mutate/mutations.mjs').Mutation} Mutation */
/** @typedef {{ mutation: Mutation; to: string }} Mutant One wrong text in place of the right one. */
/** @typedef {'caught' | 'survived' | 'stale' | 'skipped'} Verdict */

const ids = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isAll = process.argv.includes('--all') || ids.length > 0;
const chosen = MUTATIONS.filter(
  ({ id, slow }) => (isAll || slow !== true) && (ids.length === 0 || ids.includes(id)),
);

/** @type {Record<Verdict, number>} */
const counts = { caught: 0, survived: 0, stale: 0, skipped: 0 };
const began = performance.now();

const right = await runTests(chosen.flatMap(({ proofs }) => proofs));
const mutants = chosen.flatMap((mutation) => mutation.to.map((to) => ({ mutation, to })));
await inParallel(mutants, judge);
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(
  `${counts.caught} wrong numbers caught, ${counts.survived} survived, ${counts.stale} stale, ${counts.skipped} skipped, in ${seconds} s`,
);
process.exitCode = counts.survived + counts.stale > 0 ? 1 : 0;

/** @param {Mutant} mutant */
async function judge({ mutation, to }) {
  const { file, from, proofs } = mutation;
  const found = readFileSync(join(root, file), 'utf8').split(from).length - 1;
  if (found !== 1) return tell('stale', { mutation, to }, `found ${found} times in ${file}`);
  const before = proofs.map((proof) => right.outcomeOf(proof));
  if (before.includes('skipped'))
    return tell('skipped', { mutation, to }, 'its tests do not run on this machine');
  if (before.includes('missing')) return tell('stale', { mutation, to }, 'there is no such test');
  if (before.includes('failed'))
    return tell(
      'stale',
      { mutation, to },
      `the tests do not pass with the right number: ${proofs.map(({ name }) => name).join('; ')}`,
    );
  const after = await runTests(proofs, { file, from, to });
  const outcomes = proofs.map((proof) => after.outcomeOf(proof));
  if (outcomes.includes('failed')) return tell('caught', { mutation, to });
  if (outcomes.includes('missing'))
    return tell('stale', { mutation, to }, 'the tests could not be loaded with it');
  return tell('survived', { mutation, to }, `by ${proofs.map(({ name }) => name).join('; ')}`);
}

/**
 * @param {Verdict} verdict
 * @param {Mutant} mutant
 * @param {string} [why]
 */
function tell(verdict, { mutation: { id, number, from }, to }, why) {
  counts[verdict]++;
  console.log(
    `${verdict.padEnd(8)}  ${id.padEnd(11)}  ${number.padEnd(34)}  ${from} → ${to}${why === undefined ? '' : ` (${why})`}`,
  );
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<void>} action
 */
async function inParallel(items, action) {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await action(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}
