import { HOSTILE } from './hostile-cases.mjs';
// @ts-check
// Every case of the attack list: its number, the promise, and where its test is. `npm run attack -- --write` makes docs/security.md
// of it. Tests in tests/attack belong to a case by the number that begins their title; those elsewhere are named here.
import { CONFIGS, HTTP, LISTS, RESULTS } from './list-cases.mjs';

/**
 * A test elsewhere than in tests/attack: its file, and a part of its title as it stands there.
 * @typedef {readonly [file: string, title: string]} Elsewhere
 */

/**
 * `open` says what is not promised yet, and why. A case without a test has nothing but that.
 * @typedef {object} Case
 * @property {string} number
 * @property {string} promise
 * @property {readonly Elsewhere[]} elsewhere
 * @property {string | undefined} open
 */

/** @typedef {{ title: string; cases: readonly Case[] }} Section */

/** @type {readonly Section[]} */
export const SECTIONS = [
  { title: 'Hostile servers and clients', cases: HOSTILE },
  { title: 'A. Configs and processes of servers', cases: CONFIGS },
  { title: 'B. What servers list', cases: LISTS },
  { title: 'C. What servers answer and ask', cases: RESULTS },
  { title: 'D. HTTP', cases: HTTP },
];

export const CASES = SECTIONS.flatMap(({ cases }) => cases);

/**
 * Returns the numbers that a title begins with, behind the ids of requirements: `[SAFE-4] H1, H6: …`.
 * @param {string} title
 */
export function numbersOf(title) {
  return /^(?:\[[A-Z\d-]+\])* ?((?:[HML]?\d+)(?:, [HML]?\d+)*): /u.exec(title)?.[1]?.split(', ') ?? [];
}
