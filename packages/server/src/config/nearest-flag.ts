/** Edits by which a flag may differ from a known one and still be meant: half of its letters, and three at most. */
const MOST_EDITS = 3;

/** Returns the flag that was probably meant; undefined where none is similar. */
export function nearestFlag(word: string, flags: readonly string[]): string | undefined {
  const letters = lettersOf(word);
  const near = flags
    .map((flag) => ({ flag, edits: editsBetween(letters, lettersOf(flag)), length: lettersOf(flag).length }))
    .filter(({ edits, length }) => edits <= Math.min(MOST_EDITS, Math.floor(length / 2)));
  return near.toSorted((one, other) => one.edits - other.edits)[0]?.flag;
}

/** Returns the letters to compare: -port, --PORT and --logLevel are meant as --port and --log-level. */
function lettersOf(flag: string): string {
  return flag.replaceAll(/[-_]/gu, '').toLowerCase().slice(0, 64);
}

/** Counts letters to add, to take away or to replace, and neighbours to swap. */
function editsBetween(one: string, other: string): number {
  let older: number[] = [];
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const row = [at];
    for (let to = 1; to <= other.length; to++) {
      const isSame = one[at - 1] === other[to - 1];
      const isSwapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      row[to] = Math.min(
        cell(before, to) + 1,
        cell(row, to - 1) + 1,
        cell(before, to - 1) + (isSame ? 0 : 1),
        isSwapped ? cell(older, to - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    older = before;
    before = row;
  }
  return cell(before, other.length);
}

function cell(row: readonly number[], at: number): number {
  return row[at] ?? Number.POSITIVE_INFINITY;
}
