export const median = (values) => quantile(values, 0.5);

export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at));
}

/**
 * Visits every item once a round, in rotated order, so that no item always follows the same neighbour.
 * Ends after `rounds`, or when `seconds` are spent and at least three rounds are made.
 */
export async function inRounds(items, { rounds, seconds, warmUp = 0 }, visit) {
  const results = [];
  const deadline = performance.now() + seconds * 1000;
  for (let round = -warmUp; round < rounds; round++) {
    if (results.length >= 3 && performance.now() > deadline) break;
    const result = {};
    for (let i = 0; i < items.length; i++) {
      const item = items[(i + round + warmUp) % items.length];
      result[item.name] = await visit(item);
    }
    if (round >= 0) results.push(result);
  }
  return results;
}

/** The median, over the rounds, of `figure(a) / figure(b)` inside one round; undefined where one was not measured. */
export function ratio(rounds, a, b, figure = (value) => value) {
  const pairs = rounds.filter((round) => round[a] !== undefined && round[b] !== undefined);
  return pairs.length === 0 ? undefined : median(pairs.map((round) => figure(round[a]) / figure(round[b])));
}

export function middle(rounds, name, figure = (value) => value) {
  const values = rounds.filter((round) => round[name] !== undefined).map((round) => figure(round[name]));
  return values.length === 0 ? undefined : median(values);
}
