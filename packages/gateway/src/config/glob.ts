/** True for a pattern with wildcards. */
export function isGlob(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}

/**
 * Matches a whole name: `*` is any text, also none, and `?` is one character.
 * Goes back to the last `*` only, so that no pattern takes longer than the product of both lengths.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  let [at, inPattern] = [0, 0];
  let [star, afterStar] = [-1, 0];
  while (at < name.length) {
    const expected = pattern[inPattern];
    if (expected === '*') {
      star = inPattern++;
      afterStar = at;
    } else if (expected === '?' || expected === name[at]) {
      inPattern++;
      at++;
    } else {
      if (star < 0) return false;
      inPattern = star + 1;
      at = ++afterStar;
    }
  }
  while (pattern[inPattern] === '*') inPattern++;
  return inPattern === pattern.length;
}
