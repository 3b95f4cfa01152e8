// Prints the verdicts of the suite: a line for each scenario when the whole table is wanted, and always the totals.
import type { Verdict } from './run-conformance.ts';

/** Verdicts of the suite on each road, and the reasons why a scenario means nothing on one. */
export interface Table<Leg extends string> {
  readonly title: string;
  readonly legs: readonly Leg[];
  readonly verdicts: ReadonlyMap<Leg, readonly Verdict[]>;
  readonly exceptions?: Readonly<Partial<Record<Leg, Readonly<Record<string, string>>>>>;
}

/** Set by `npm run conformance`. */
const isWhole = process.env['WEIR_CONFORMANCE_TABLE'] === 'whole';

/** Prints passed and failed checks by leg; a SHOULD that was not met counts as failed. */
export function printTable<Leg extends string>(table: Table<Leg>): void {
  if (table.verdicts.size > 0) process.stdout.write(`\n${linesOf(table).join('\n')}\n\n`);
}

function linesOf<Leg extends string>(table: Table<Leg>): string[] {
  const { title, legs, verdicts } = table;
  const names = [...new Set([...verdicts.values()].flat().map(({ scenario }) => scenario))].sort();
  const rows = isWhole ? names.map((name) => [name, ...legs.map((leg) => cell(table, leg, name))]) : [];
  const total = [`${names.length} scenarios`, ...legs.map((leg) => count(verdicts.get(leg)))];
  const lines = [[title, ...legs], ...rows, total];
  const width = Math.max(...lines.map(([first = '']) => first.length));
  return [...lines.map((line) => format(line, width)), ...footnotes(table, names)];
}

function cell<Leg extends string>({ verdicts, exceptions }: Table<Leg>, leg: Leg, name: string): string {
  if (exceptions?.[leg]?.[name] !== undefined) return '*';
  return count(verdicts.get(leg)?.filter(({ scenario }) => scenario === name));
}

function count(verdicts: readonly Verdict[] | undefined): string {
  if (verdicts === undefined) return '?';
  const passed = verdicts.filter(({ status }) => status === 'SUCCESS').length;
  const failed = verdicts.filter(({ status }) => status === 'FAILURE' || status === 'WARNING').length;
  return `${passed}/${failed}`;
}

function footnotes<Leg extends string>({ legs, exceptions }: Table<Leg>, names: readonly string[]): string[] {
  return legs.flatMap((leg) =>
    Object.entries(exceptions?.[leg] ?? {})
      .filter(([name]) => names.includes(name))
      .map(([name, why]) => `* not ${leg}: ${name}, for ${why}`),
  );
}

function format([first = '', ...cells]: string[], width: number): string {
  return `${first.padEnd(width)}${cells.map((each) => each.padStart(14)).join('')}`;
}
