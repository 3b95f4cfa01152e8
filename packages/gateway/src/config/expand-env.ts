import { basename, dirname, relative, resolve, sep } from 'node:path';
import { isRecord } from '../wire/json/value-checks.ts';
import type { Environment } from './child-environment.ts';
import { formatLocation, type JsonPath } from './json/json-path.ts';
import { isSwitchedOff } from './server-kind.ts';

/** Values of references, and exceptions. */
export interface ExpansionContext {
  /** The environment variables; only its own keys count. */
  env: Environment;
  /** Places that stay as they are, such as `mcpServers.files.note`. */
  except?: ReadonlySet<string>;
  /** Maps a path to its path in the file, where the two differ. */
  originOf?: (path: JsonPath) => JsonPath;
}

export type ExpansionResult<T> =
  | { success: true; value: T }
  | {
      success: false;
      error: string;
      /** Each missing name once, in the order of the config. */
      missingVars: string[];
      /** Each reference with its place; the functions here always set it. */
      missing?: MissingVariable[];
    };

type Expanded<T> = { success: true; value: T } | Required<Extract<ExpansionResult<T>, { success: false }>>;

/** A reference that leads nowhere. */
export interface MissingVariable {
  variable: string;
  /** Path, such as `mcpServers.postgres.env.DATABASE_URL`. */
  location: string;
}

/** Replaces the references in one text. */
export function expandEnvVar(value: string, context: ExpansionContext): Expanded<string> {
  return collect((missing) => expandAt(value, [], { context, missing }));
}

/** Replaces the references in every text of a config, except in servers that are switched off. */
export function expandConfigEnvVars(obj: unknown, context: ExpansionContext): Expanded<unknown> {
  // Most configs refer to no variable: the walk with a path to each part is left out.
  if (!holdsReference(obj)) return { success: true, value: obj };
  return collect((missing) => expandValue(obj, [], { context, missing }));
}

interface Expansion {
  context: ExpansionContext;
  missing: MissingVariable[];
}

function collect<T>(expand: (missing: MissingVariable[]) => T): Expanded<T> {
  const missing: MissingVariable[] = [];
  const value = expand(missing);
  if (missing.length === 0) return { success: true, value };
  const missingVars = [...new Set(missing.map(({ variable }) => variable))];
  const error = `Missing environment variable(s): ${missingVars.map(printableName).join(', ')}`;
  return { success: false, error, missingVars, missing };
}

/** Returns the value itself where it holds no reference. */
function expandValue(value: unknown, path: JsonPath, expansion: Expansion): unknown {
  if (typeof value === 'string') return expandAt(value, path, expansion);
  if (typeof value !== 'object' || value === null || staysAsItIs(value, path, expansion)) return value;
  const expandItem = (item: unknown, step: string | number): unknown =>
    mayHoldReferences(item) ? expandValue(item, [...path, step], expansion) : item;
  if (Array.isArray(value)) {
    const items = value.map(expandItem);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const record = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(record);
  const items = keys.map((key) => expandItem(record[key], key));
  return keys.every((key, index) => items[index] === record[key])
    ? value
    : Object.fromEntries(keys.map((key, index) => [key, items[index]]));
}

function mayHoldReferences(value: unknown): boolean {
  return typeof value === 'string' ? value.includes('$') : typeof value === 'object';
}

function holdsReference(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('$');
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsReference);
}

function staysAsItIs(value: object, path: JsonPath, { context }: Expansion): boolean {
  if (isExcepted(path, context)) return true;
  const isServer = path.length === 2 && path[0] === 'mcpServers';
  return isServer && isRecord(value) && isSwitchedOff(value);
}

function isExcepted(path: JsonPath, { except }: ExpansionContext): boolean {
  return except !== undefined && except.size > 0 && except.has(formatLocation(path));
}

function expandAt(value: string, path: JsonPath, { context, missing }: Expansion): string {
  if (!value.includes('$') || isExcepted(path, context)) return value;
  return expandText(value, {
    read: (variable) => (Object.hasOwn(context.env, variable) ? context.env[variable] : undefined),
    missing: (variable) => {
      const location = formatLocation(context.originOf?.(path) ?? path);
      missing.push({ variable, location });
    },
  });
}

/** Looks references up; `missing` gets every name that `read` does not know. */
interface VariableLookup {
  read: (name: string) => string | undefined;
  missing: (name: string) => void;
}

/** Replaces `$NAME`, `${NAME}`, `${env:NAME}` and `${NAME:-default}` in one pass; what they yield is not read again. */
function expandText(text: string, variables: VariableLookup): string {
  const source: ParsedText = { text, closers: matchBraces(text), variables };
  return expandRange(source, 0, text.length);
}

interface ParsedText {
  text: string;
  /** For every `${` the place of its `}`. */
  closers: ReadonlyMap<number, number>;
  variables: VariableLookup;
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

function expandRange(source: ParsedText, start: number, end: number): string {
  let result = '';
  let at = start;
  for (;;) {
    const dollar = source.text.indexOf('$', at);
    if (dollar === -1 || dollar >= end) return result + source.text.slice(at, end);
    const reference = referenceAt(source, dollar);
    result += source.text.slice(at, dollar) + (reference ? valueOf(source, reference) : '$');
    at = reference?.end ?? dollar + 1;
  }
}

function referenceAt(source: ParsedText, dollar: number): Reference | undefined {
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

function valueOf(source: ParsedText, { name, fallback }: Reference): string {
  const value = source.variables.read(name);
  // As in a shell, a default stands in for an empty value too.
  if (fallback !== undefined) return value || expandRange(source, ...fallback);
  if (value === undefined) source.variables.missing(name);
  return value ?? '';
}

/** A name as it may be printed: what looks like no name could be part of a password. */
export function printableName(variable: string): string {
  return /^[\w.:-]{1,80}$/.test(variable) ? variable : '${…}';
}

/** Folders in which hosts keep the files of a user rather than those of a project. */
const USER_FOLDERS: ReadonlySet<string> = new Set(['Library', 'AppData']);

/** Returns what other hosts call the folders around a config file; a variable of the environment counts for more. */
export function hostVariables(path: string | undefined, env: Environment): Record<string, string> {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const workspace = path === undefined ? undefined : workspaceOf(resolve(path), home);
  return {
    pathSeparator: sep,
    '/': sep,
    ...(home !== undefined && { userHome: home }),
    ...(workspace !== undefined && {
      workspaceFolder: workspace,
      workspaceFolderBasename: basename(workspace),
    }),
  };
}

/** The folder of the file, or the one around it where it is a host's own, such as `.vscode`; undefined in the user's own files. */
function workspaceOf(path: string, home = ''): string | undefined {
  const folder = dirname(path);
  const workspace = basename(folder).startsWith('.') ? dirname(folder) : folder;
  if (home === '') return workspace;
  const steps = relative(home, workspace).split(sep);
  if (steps[0] === '..') return workspace;
  const isOfUser = steps.some((step) => step === '' || step.startsWith('.') || USER_FOLDERS.has(step));
  return isOfUser ? undefined : workspace;
}
