// @ts-check
// Calls that are kept in flight while something happens.
import { setTimeout as delay } from 'node:timers/promises';
import { LONGEST_S } from './clients.mjs';
import { finding } from './common.mjs';

/**
 * What became of the calls: `lost` are those without an answer.
 * @typedef {{ count: number; lost: number; slowest: number; errors: { key: string; text: string }[]; texts: Set<string> }} Seen
 */

/**
 * Keeps calls in flight until this is settled; resolves when all of them are answered, or will not be.
 * @param {import('./clients.mjs').Client} client
 * @param {Promise<unknown>} during
 * @param {{ inFlight: number; next: () => { key: string; name: string; args?: object } }} options
 */
export async function callDuring(client, during, { inFlight, next }) {
  /** @type {Seen} */
  const seen = { count: 0, lost: 0, slowest: 0, errors: [], texts: new Set() };
  let isOver = false;
  const over = during.finally(() => (isOver = true));
  const keepCalling = async () => {
    while (!isOver) await callOnce(client, next(), seen);
  };
  await Promise.all([over, ...Array.from({ length: inFlight }, keepCalling)]);
  return seen;
}

/**
 * @param {import('./clients.mjs').Client} client
 * @param {{ key: string; name: string; args?: object }} call
 * @param {Seen} seen
 */
async function callOnce(client, { key, name, args }, seen) {
  const began = performance.now();
  const { text, error, isAnswered } = await client.call(name, args);
  seen.count++;
  seen.slowest = Math.max(seen.slowest, performance.now() - began);
  if (!isAnswered) seen.lost++;
  else if (error !== undefined) seen.errors.push({ key, text: error });
  if (text !== undefined) seen.texts.add(text);
  // A server that is away answers at once; nobody calls a dead server a thousand times a second.
  else await delay(20);
}

/**
 * The finding that most faults have.
 * @param {Seen} seen
 * @param {string} [more]
 */
export function allAnswered(seen, more = '') {
  return finding(
    `every call is answered within ${LONGEST_S} s`,
    seen.lost === 0 && seen.slowest < LONGEST_S * 1000,
    `${told(seen)}${more}`,
  );
}

/**
 * The finding about those that nothing was done to.
 * @param {Seen} seen
 * @param {string} [promise]
 */
export function unnoticed(seen, promise = 'calls to the other servers are not affected') {
  return finding(promise, seen.count > 0 && seen.lost === 0 && seen.errors.length === 0, told(seen));
}

/** @param {Seen} seen */
function told({ count, errors, lost, slowest }) {
  const parts = [`${count} calls`, `${errors.length} errors`, `${lost} without an answer`];
  return `${parts.join(', ')}, the slowest after ${Math.round(slowest)} ms`;
}
