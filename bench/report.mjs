// Tables in Markdown, so that a run can be pasted where it is needed.

export function printMeasure(title, { tables = [], skipped, failed }) {
  const missing = failed ?? skipped;
  const body = missing === undefined ? tables.map(table).join('\n\n') : `Not measured: ${missing}.`;
  return `\n## ${title}\n\n${body}\n`;
}

export function printGates(gates) {
  const bar = ({ atMost, atLeast }) => (atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`);
  const rows = gates.map((gate) => [
    `${gate.measure}: ${gate.figure}`,
    gate.value,
    bar(gate),
    gate.steady ? 'yes' : '',
    gate.passed ? 'pass' : 'FAIL',
  ]);
  return `\n## Bars\n\n${table({ columns: ['', 'measured', 'bar', 'gate in tests', ''], rows })}\n`;
}

function table({ columns, rows, note }) {
  const cells = [columns, ...rows.map((row) => row.map(format))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => [...(row[i] ?? '')].length)));
  const line = (row) => `| ${widths.map((width, i) => pad(row[i] ?? '', width, i === 0)).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const text = [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
  return note === undefined ? text : `${text}\n\n${note}`;
}

function pad(text, width, left) {
  const space = ' '.repeat(width - [...text].length);
  return left ? text + space : space + text;
}

function format(value) {
  if (value === undefined || value === null) return '–';
  if (typeof value !== 'number') return String(value);
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
