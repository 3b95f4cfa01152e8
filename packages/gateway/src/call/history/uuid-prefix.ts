/** Digits of each group of a UUID that are random; the last group is left to the caller's counter. */
const GROUPS = [8, 4, 3, 3] as const;
const VARIANTS = '89ab';

/**
 * Returns the first 24 characters of a UUID, of which 74 bits are random. The 12 digits that complete it may count up.
 * `random` is a number from 0 to 1: ids need not be secret, and loading `node:crypto` takes longer than the rest of the start.
 */
export function uuidPrefix(random: () => number): string {
  const [one, two, three, four] = GROUPS.map((length) => hex(random, length));
  return `${one}-${two}-4${three}-${VARIANTS[Math.floor(random() * 4)]}${four}-`;
}

function hex(random: () => number, length: number): string {
  return Math.floor(random() * 16 ** length)
    .toString(16)
    .padStart(length, '0');
}
