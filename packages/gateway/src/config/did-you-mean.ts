/** Returns the known word that a misspelled one most likely means. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  // Short words have many neighbours: one slip in three to seven letters, two in more.
  const limit = word.length < 3 ? 0 : word.length < 8 ? 1 : 2;
  return known
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter((pair) => pair.distance <= limit)
    .toSorted((one, other) => one.distance - other.distance)[0]?.candidate;
}

// Returns the edit distance (Levenshtein), row by row.
function distance(one: string, other: string): number {
  // Words that differ much in length are not misspellings, and a long word would need a large table.
  if (Math.abs(one.length - other.length) > 2) return Infinity;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of one.split('').entries()) {
    row = nextRow(row, { letter, start: index + 1, other });
  }
  return row[other.length] ?? Infinity;
}

function nextRow(
  above: readonly number[],
  { letter, start, other }: { letter: string; start: number; other: string },
): number[] {
  const row = [start];
  for (let column = 0; column < other.length; column += 1) {
    const changed = at(above, column) + (other[column] === letter ? 0 : 1);
    row.push(Math.min(changed, at(above, column + 1) + 1, at(row, column) + 1));
  }
  return row;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
