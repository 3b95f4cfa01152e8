// The tables of the measures that compare libraries: one for each era, and one with every round.
import { middle, ratio } from '../statistics.mjs';
import { ERAS, OURS, SDK } from './contestants.mjs';

export const rowName = (name, era) => `${name}, ${era}`;

/** `kinds` are what a visit measured, by its key in the result; all is compared with the plain SDK of the same era. */
export function tablesOf(rounds, names, { kinds, unit }) {
  const columns = kinds.flatMap(({ title }) => [`${unit}, ${title}`, '× plain SDK']);
  const tables = Object.entries(ERAS).map(([era, version]) => ({
    columns: [version, ...columns],
    rows: names
      .filter((name) => rounds.some((round) => round[rowName(name, era)] !== undefined))
      .map((name) => [name, ...cellsOf(rounds, name, { era, kinds })]),
    note: `${rounds.length} rounds`,
  }));
  return [...tables.filter(({ rows }) => rows.length > 0), everyRound(rounds, kinds)];
}

function cellsOf(rounds, name, { era, kinds }) {
  return kinds.flatMap(({ of }) => [
    middle(rounds, rowName(name, era), of),
    ratio(rounds, rowName(name, era), rowName(SDK, era), of),
  ]);
}

/** One line for each round: a neighbour who disturbed one can be seen. */
function everyRound(rounds, kinds) {
  const columns = Object.keys(ERAS).flatMap((era) => kinds.map((kind) => ({ era, ...kind })));
  const rows = rounds.map((round, index) => [
    `round ${index + 1}`,
    ...columns.map(({ era, of }) => ratio([round], rowName(OURS, era), rowName(SDK, era), of)),
  ]);
  return { columns: [`${OURS} × ${SDK}`, ...columns.map(({ era, title }) => `${era}, ${title}`)], rows };
}

/** Ours against each of the others, by era and kind; undefined where a library is missing or does not speak the era. */
export function figuresOf(rounds, kinds) {
  const figures = {};
  for (const era of Object.keys(ERAS))
    for (const { title, of } of kinds)
      for (const other of [SDK, 'fastmcp', '@mcp-z/server'])
        figures[`${era}, ${title} ÷ ${other}`] = ratio(rounds, rowName(OURS, era), rowName(other, era), of);
  return figures;
}
