type Paint = 'good' | 'bad' | 'dim';

/** One cell, or its text together with how it is to look. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

const CODES: Readonly<Record<Paint, string>> = { good: '32', bad: '31', dim: '2' };

/** Rows of aligned columns, the first of them the heading; nothing in a cell plays with the terminal. */
export function table(rows: readonly (readonly Cell[])[], isColoured: boolean): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => printable(textOf(row[column] ?? '')).length)),
  );
  return rows.map((row) => `${line(row, widths, isColoured)}\n`).join('');
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
