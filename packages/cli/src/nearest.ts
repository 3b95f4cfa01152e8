/** Returns the known word that begins with this one, or differs from it in one place. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const near = known.filter((candidate) => isNear(word, candidate));
  return near.sort((one, other) => differing(word, one) - differing(word, other))[0];
}

function isNear(word: string, known: string): boolean {
  if (known.startsWith(word)) return word.length > 3;
  // All short words are similar: half of the letters must be right.
  return differing(word, known) <= Math.min(2, known.length / 2);
}

/** Counts the letters between the common start and the common end of two words; two swapped letters count as one. */
function differing(word: string, known: string): number {
  const shorter = Math.min(word.length, known.length);
  let start = 0;
  while (start < shorter && word[start] === known[start]) start++;
  let end = 0;
  while (end < shorter - start && word.at(-1 - end) === known.at(-1 - end)) end++;
  const count = Math.max(word.length, known.length) - start - end;
  const isSwapped = count === 2 && word[start] === known[start + 1] && word[start + 1] === known[start];
  return isSwapped ? 1 : count;
}
