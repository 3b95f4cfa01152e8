type Paint = 'good' | 'bad' | 'dim';

/** One cell, or its text together with how it is to look. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

const CODES: Readonly<Record<Paint, string>> = { good: '32', bad: '31', dim: '2' };

/** What a table has to suit. */
export interface Looks {
  readonly isColoured: boolean;
  /** Of the terminal; a program that reads gets one line a row. */
  readonly width?: number | undefined;
}

const INDENT = '      ';

/** Rows of aligned columns, the first of them the heading; nothing in a cell plays with the terminal. */
export function table(rows: readonly (readonly Cell[])[], looks: Looks): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => printable(textOf(row[column] ?? '')).length)),
  );
  return rows.map((row) => `${fitting(row, widths, looks)}\n`).join('');
}

/** A row that is too wide has the text of its last column beneath it. */
function fitting(row: readonly Cell[], widths: readonly number[], { isColoured, width }: Looks): string {
  if (width === undefined || line(row, widths, false).length <= width) return line(row, widths, isColoured);
  const [rest, text] = [row.slice(0, -1), printable(textOf(row.at(-1) ?? ''))];
  return [line(rest, widths, isColoured), ...wrapped(text, width - INDENT.length)].join(`\n${INDENT}`);
}

/** Lines of whole words. */
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

/** Names and errors are anybody's to write. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '?');
}
