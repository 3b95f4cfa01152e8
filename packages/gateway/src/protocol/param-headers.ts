import { isRecord } from '../wire/json/value-checks.ts';

// Some tools want a few of their arguments repeated in HTTP headers, so that proxies can route a call without reading its body.

/** An argument that is repeated in a header. */
export interface ParameterHeader {
  /** The whole name of the header: `Mcp-Param-Region`. */
  readonly header: string;
  /** The keys that lead to the argument. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** Why a tool cannot be called over HTTP: its definition marks an argument in a way that is not allowed. */
export class InvalidAnnotation extends Error {
  override readonly name = 'InvalidAnnotation';
}

const ANNOTATION = 'x-mcp-header';

/** Returns false for a definition that cannot have annotated arguments, as nearly all are. */
export function mayHaveParameterHeaders(definition: Buffer): boolean {
  return definition.includes(ANNOTATION);
}

/** The arguments that a tool wants in headers; throws an `InvalidAnnotation` where its definition breaks the rules for that. */
export function readParameterHeaders(definition: Buffer): ParameterHeader[] {
  const { inputSchema } = JSON.parse(definition.toString('utf8')) as { inputSchema?: unknown };
  const found: ParameterHeader[] = [];
  visitSchema(inputSchema, [], found);
  const names = found.map(({ header }) => header.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidAnnotation(`wants the header ${twice} for two arguments`);
  return found;
}

/** The headers that a call with these arguments has. */
export function parameterHeaders(marked: readonly ParameterHeader[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of marked) {
    const text = parameterText(valueAt(args, path));
    if (text !== undefined) headers[header] = encodeHeaderValue(text);
  }
  return headers;
}

/** Returns a value as header text; undefined for values that are left out. */
function parameterText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || (typeof value === 'number' && isPlain(value))) return String(value);
  return undefined;
}

function isPlain(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** The first header that does not say what the arguments do, in words; undefined where all agree. `headerOf` takes names in lower case. */
export function parameterMismatch(
  marked: readonly ParameterHeader[],
  args: unknown,
  headerOf: (name: string) => string | undefined,
): string | undefined {
  for (const { header, path, type } of marked) {
    const value = valueAt(args, path);
    const text = parameterText(value);
    if (text === undefined) continue;
    const sent = headerOf(header.toLowerCase());
    const fault =
      sent === undefined ? 'is missing' : comparison(sent, text, type === 'integer' ? value : undefined);
    if (fault !== undefined) return `the header ${header} ${fault}`;
  }
  return undefined;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

function comparison(sent: string, text: string, number: unknown): string | undefined {
  const decoded = decodeHeaderValue(sent);
  if (decoded === undefined) return 'is not encoded correctly';
  const isSame =
    typeof number === 'number' && DECIMAL.test(decoded) ? Number(decoded) === number : decoded === text;
  return isSame ? undefined : 'differs from the argument';
}

const OPENING = '=?base64?';
const CLOSING = '?=';

/** A text as a header may carry it. */
export function encodeHeaderValue(text: string): string {
  return isHeaderSafe(text) ? text : `${OPENING}${Buffer.from(text, 'utf8').toString('base64')}${CLOSING}`;
}

/** The other direction; undefined for what is only half encoded. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isEncoded(value)) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined;
  const base64 = value.slice(OPENING.length, -CLOSING.length);
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString('utf8');
  const isExact = bytes.toString('base64') === base64 && Buffer.from(text, 'utf8').equals(bytes);
  return isExact ? text : undefined;
}

function isEncoded(value: string): boolean {
  return (
    value.length >= OPENING.length + CLOSING.length && value.startsWith(OPENING) && value.endsWith(CLOSING)
  );
}

function isHeaderSafe(text: string): boolean {
  return /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !isEncoded(text);
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Deeper than any honest definition. */
const DEEPEST = 64;
/** Keywords whose values are data and not schemas. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'default',
  'const',
  'enum',
  'examples',
  'example',
  'required',
]);
/** Keywords whose values are schemas by names of any kind. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/** Goes through a schema; `path` is how arguments lead to it, undefined where none can. */
function visitSchema(
  schema: unknown,
  path: readonly string[] | undefined,
  found: ParameterHeader[],
  depth = 0,
): void {
  if (depth > DEEPEST) throw new InvalidAnnotation(`nests its inputSchema more than ${DEEPEST} levels deep`);
  if (Array.isArray(schema)) for (const part of schema) visitSchema(part, undefined, found, depth + 1);
  if (!isRecord(schema)) return;
  if (Object.hasOwn(schema, ANNOTATION)) found.push(readAnnotation(schema, path));
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === ANNOTATION || DATA_KEYWORDS.has(keyword)) continue;
    if (keyword === 'properties' && isRecord(value)) {
      for (const [key, part] of Object.entries(value))
        visitSchema(part, path && [...path, key], found, depth + 1);
    } else if (NAMED_SCHEMAS.has(keyword) && isRecord(value)) {
      for (const part of Object.values(value)) visitSchema(part, undefined, found, depth + 1);
    } else visitSchema(value, undefined, found, depth + 1);
  }
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function readAnnotation(
  schema: Record<string, unknown>,
  path: readonly string[] | undefined,
): ParameterHeader {
  const { [ANNOTATION]: name, type } = schema;
  if (path === undefined || path.length === 0)
    throw new InvalidAnnotation(`has ${ANNOTATION} where no argument is: only properties may have it`);
  const where = path.join('.');
  if (typeof name !== 'string' || !TOKEN.test(name))
    throw new InvalidAnnotation(`has an ${ANNOTATION} at ${where} that cannot be part of a header's name`);
  if (type !== 'string' && type !== 'integer' && type !== 'boolean')
    throw new InvalidAnnotation(
      `has an ${ANNOTATION} at ${where}, which is not a string, integer or boolean`,
    );
  return { header: `Mcp-Param-${name}`, path, type };
}
