import { Texts } from '../errors.ts';
import { isRecord } from '../wire/json/is-record.ts';
import { expandText } from './expand-text.ts';
import { formatLocation, type JsonPath } from './json/json-path.ts';
import { isSwitchedOff } from './server-kind.ts';

/** Values of references, and exceptions. */
export interface ExpansionContext {
  /** The environment variables; only its own keys count. */
  env: Readonly<Record<string, string | undefined>>;
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
  const error = Texts.missingVariables(missingVars.map(printableName));
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

/** A name as it may be printed: what looks like no name could be part of a password. */
export function printableName(variable: string): string {
  return /^[\w.:-]{1,80}$/.test(variable) ? variable : '${…}';
}
