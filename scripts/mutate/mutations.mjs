// @ts-check
import { AGGREGATOR } from './table/aggregator.mjs';
import { CONTAINERS_AND_HTTP } from './table/containers-and-http.mjs';
import { ERAS_AND_HEALTH } from './table/eras-and-health.mjs';
import { SERVER_CONFIG_AND_ERRORS } from './table/server-config-and-errors.mjs';

/**
 * @typedef {object} Mutation A number of a requirement, where the code has it, and wrong texts in its place.
 * @property {string} id
 * @property {string} number as tests/requirements.ts has it, or a rule beside the numbers
 * @property {string} file from the root
 * @property {string} from found exactly once in the file
 * @property {readonly string[]} to
 * @property {readonly import('./run-tests.mjs').Proof[]} proofs tests of which at least one fails with the wrong text
 * @property {true} [slow] takes longer than a few seconds; `npm run mutate -- --all`
 */

/** @type {readonly Mutation[]} */
export const MUTATIONS = [
  ...AGGREGATOR,
  ...ERAS_AND_HEALTH,
  ...CONTAINERS_AND_HTTP,
  ...SERVER_CONFIG_AND_ERRORS,
];
