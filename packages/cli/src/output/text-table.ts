import type { Context } from '../context.ts';

type Paint = 'good' | 'bad' | 'dim';

/** Text of a cell, with or without a colour. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

const CODES: Readonly<Record<Paint, string>> = { good: '32', bad: '31', dim: '2' };

export interface Looks {
  readonly isColoured: boolean;
  /** Columns of the terminal; undefined for a program, which gets one line per row. */
  readonly width?: number | undefined;
}

/** Returns the look that suits the output: no colour for programs or with NO_COLOR. */
export function looksOf({ output, env }: Pick<Context, 'output' | 'env'>): Looks {
  if (output.isTTY !== true) return { isColoured: false };
  return { isColoured: !env['NO_COLOR'], width: output.columns };
}

export function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

const INDENT = '      ';

/** Aligns the columns of rows, the first of which is the heading; removes control characters. */
export function table(rows: readonly (readonly Cell[])[], looks: Looks): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => printable(textOf(row[column] ?? '')).length)),
  );
  return rows.map((row) => `${fitting(row, widths, looks)}\n`).join('');
}

/** Puts the last column of a row that is too wide beneath it. */
function fitting(row: readonly Cell[], widths: readonly number[], { isColoured, width }: Looks): string {
  if (width === undefined || line(row, widths, false).length <= width) return line(row, widths, isColoured);
  const [rest, text] = [row.slice(0, -1), printable(textOf(row.at(-1) ?? ''))];
  return [line(rest, widths, isColoured), ...wrapped(text, width - INDENT.length)].join(`\n${INDENT}`);
}

/** Breaks a text into lines of whole words. */
function wrapped(text: string, width: number): string[] {
  if (text === '') return [];
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) as string;
    const longer = last === '' ? word : `${last} ${word}`;
    if (longer.length <= width || last === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function line(row: readonly Cell[], widths: readonly number[], isColoured: boolean): string {
  const last = row.length - 1;
  const cells = row.map((cell, column) => {
    const text = printable(textOf(cell));
    const padding = column === last ? '' : ' '.repeat((widths[column] ?? 0) - text.length);
    return (isColoured ? painted(cell, text) : text) + padding;
  });
  return cells.join('  ').trimEnd();
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

function painted(cell: Cell, text: string): string {
  return typeof cell === 'string' || text === '' ? text : `\u001B[${CODES[cell.paint]}m${text}\u001B[0m`;
}

/** Replaces control characters, because servers choose names and errors. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '?');
}
