// @ts-check

/**
 * @param {string | number} number
 * @param {string} promise
 * @param {readonly import('./cases.mjs').Elsewhere[]} [elsewhere]
 * @param {string} [open]
 * @returns {import('./cases.mjs').Case}
 */
export function attackCase(number, promise, elsewhere = [], open) {
  return { number: String(number), promise, elsewhere, open };
}

/**
 * A case of which nothing is promised yet.
 * @param {string | number} number
 * @param {string} attack
 * @param {string} open
 */
export function notBuilt(number, attack, open) {
  return attackCase(number, attack, [], open);
}
