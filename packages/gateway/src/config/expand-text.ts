/** Looks references up; `missing` gets every name that `read` does not know. */
export interface Variables {
  read: (name: string) => string | undefined;
  missing: (name: string) => void;
}

/** Replaces `$NAME`, `${NAME}`, `${env:NAME}` and `${NAME:-default}` in one pass; what they yield is not read again. */
export function expandText(text: string, variables: Variables): string {
  const source: Source = { text, closers: matchBraces(text), variables };
  return expandRange(source, 0, text.length);
}

interface Source {
  text: string;
  /** For every `${` the place of its `}`. */
  closers: ReadonlyMap<number, number>;
  variables: Variables;
}

interface Reference {
  name: string;
  end: number;
  /** Position of the default, if there is one. */
  fallback?: readonly [start: number, end: number];
}

// Real configs nest defaults less deep, and each level costs a stack frame.
const MAX_NESTING = 20;

function matchBraces(text: string): Map<number, number> {
  const closers = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '}') closers.set(open.pop() ?? -1, at);
    else if (text[at] === '$' && text[at + 1] === '{' && open.length < MAX_NESTING) open.push(at);
  }
  return closers;
}

function expandRange(source: Source, start: number, end: number): string {
  let result = '';
  let at = start;
  for (;;) {
    const dollar = source.text.indexOf('$', at);
    if (dollar === -1 || dollar >= end) return result + source.text.slice(at, end);
    const reference = referenceAt(source, dollar);
    result += source.text.slice(at, dollar) + (reference ? resolve(source, reference) : '$');
    at = reference?.end ?? dollar + 1;
  }
}

function referenceAt(source: Source, dollar: number): Reference | undefined {
  const closer = source.closers.get(dollar);
  if (closer !== undefined) return bracedReference(source.text, dollar + 2, closer);
  const plain = /[A-Z_][A-Z0-9_]*/y;
  plain.lastIndex = dollar + 1;
  const [name] = plain.exec(source.text) ?? [];
  return name === undefined ? undefined : { name, end: plain.lastIndex };
}

function bracedReference(text: string, start: number, closer: number): Reference | undefined {
  const content = text.slice(start, closer);
  const mark = content.indexOf(':-');
  const written = mark === -1 ? content : content.slice(0, mark);
  if (written === '') return undefined;
  // Some hosts say where a variable comes from.
  const name = written.startsWith('env:') && written.length > 4 ? written.slice(4) : written;
  const end = closer + 1;
  return mark === -1 ? { name, end } : { name, end, fallback: [start + mark + 2, closer] };
}

function resolve(source: Source, { name, fallback }: Reference): string {
  const value = source.variables.read(name);
  // As in a shell, a default stands in for an empty value too.
  if (fallback !== undefined) return value || expandRange(source, ...fallback);
  if (value === undefined) source.variables.missing(name);
  return value ?? '';
}
