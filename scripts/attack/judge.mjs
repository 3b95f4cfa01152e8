// @ts-check
// What must hold whatever peers do.
import { GROWTH_MB } from './measure.mjs';

/** @typedef {import('./arena.mjs').Outcome} Outcome */
/** @typedef {import('./honest-clients.mjs').Honest} Honest */

/**
 * The most that one slice may have. A slice takes elements until it is full, and its last one may be one message or one notice to
 * each of a thousand clients.
 */
const SLICE = { elements: 2048, bytes: 65 * 2 ** 20 };
/** How much slower than beside idle processes that burn as much an honest call may be, at the 99th of a hundred. */
const SLOWER = 3;

/**
 * Returns what did not hold, in words; nothing where all did.
 * @param {Outcome} outcome
 * @returns {string[]}
 */
export function judge({ honest, figures, isAlive, mistakes, left }) {
  const { growthMb = 0, sliceElements = 0, sliceBytes = 0 } = figures ?? {};
  return [
    isAlive ? '' : 'the gateway has ended',
    honest.errors.length === 0 ? '' : `${honest.errors.length} honest calls failed: ${honest.errors[0]}`,
    honest.crossed === 0 ? '' : `${honest.crossed} answers crossed`,
    honest.calls > 0 ? '' : 'no honest call was made',
    growthMb <= GROWTH_MB ? '' : `memory grew by ${growthMb.toFixed(0)} MB`,
    sliceElements <= SLICE.elements ? '' : `a slice had ${sliceElements} elements`,
    sliceBytes <= SLICE.bytes ? '' : `a slice had ${sliceBytes} bytes`,
    mistakes.length === 0 ? '' : `the log tells of a mistake: ${mistakes[0]}`,
    left === 0 ? '' : `${left} processes were left`,
  ].filter((text) => text !== '');
}

/**
 * @param {Honest} honest
 * @param {Honest} beside
 */
export function judgeSpeed(honest, beside) {
  return honest.p99 <= SLOWER * beside.p99
    ? []
    : [`p99 is ${honest.p99.toFixed(0)} ms, beside idle processes ${beside.p99.toFixed(0)} ms`];
}
