import { shortHash } from '../hash.ts';

export const DEFAULT_SEPARATOR = ':';

/** The separator whose names every known host accepts. */
export const SAFE_SEPARATOR = '__';

/** The key under which the gateway's own tool is listed. A configured server may have it as well. */
export const OWN_KEY = 'weir';

/** One thing that a server offers under its own name. */
export interface Owner {
  readonly serverKey: string;
  readonly name: string;
}

/** A call is also accepted under a name written with one of these. */
export const ALIAS_SEPARATORS: readonly string[] = [':', '__', '.', '/'];

/** Characters: the strictest hosts and model APIs accept no more. */
export const LONGEST_SAFE_NAME = 64;
const HASH_LENGTH = 8;
/** Characters that a name keeps before its hash. */
const LONGEST_HASHED = LONGEST_SAFE_NAME - HASH_LENGTH - 1;

/** Throws where a separator cannot separate; the message names the one that counts without `--separator`. */
export function validateSeparator(separator: string, defaultSeparator: string = DEFAULT_SEPARATOR): void {
  if (separator === '')
    throw new Error(
      `Separator cannot be empty. Use --separator <chars> to specify a separator (default: "${defaultSeparator}")`,
    );
  if (/\s/u.test(separator))
    throw new Error('Separator cannot contain whitespace. Use non-whitespace characters like "__" or "-"');
}

/** The public name of a server's tool or prompt; a host-safe separator makes the whole name host-safe. */
export function joinName(serverKey: string, name: string, separator: string): string {
  const joined = `${serverKey}${separator}${name}`;
  if (isHostSafe(joined) || !isHostSafe(separator)) return joined;
  const safe = madeSafe(joined);
  return safe.length <= LONGEST_SAFE_NAME ? safe : withHash(safe, serverKey, name);
}

/** Returns the beginnings of public names by which a server is known: its key as it is, made host-safe, and cut. */
export function prefixesOf(serverKey: string, separator: string): string[] {
  const prefix = `${serverKey}${separator}`;
  if (!isHostSafe(separator)) return [prefix];
  const safe = madeSafe(prefix);
  if (safe === prefix && safe.length <= LONGEST_HASHED) return [prefix];
  return safe.length > LONGEST_HASHED ? [prefix, safe, `${safe.slice(0, LONGEST_HASHED)}_`] : [prefix, safe];
}

function madeSafe(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
}

/** The other direction, by the first separator; null where there are not two parts. Routing never depends on it. */
export function parseToolPrefix(
  prefixedName: string,
  separator: string = DEFAULT_SEPARATOR,
): { serverKey: string; toolName: string } | null {
  const at = prefixedName.indexOf(separator);
  if (at <= 0 || at + separator.length === prefixedName.length) return null;
  return { serverKey: prefixedName.slice(0, at), toolName: prefixedName.slice(at + separator.length) };
}

export function validateToolName(name: string, separator: string = DEFAULT_SEPARATOR): boolean {
  return parseToolPrefix(name, separator) !== null;
}

/** True where no host or model API known refuses a name. */
export function isHostSafe(name: string): boolean {
  return HOST_SAFE.test(name);
}

/** One object: a start asks for every name, and an expression in the function would be made anew each time. */
const HOST_SAFE = /^[A-Za-z0-9_-]{1,64}$/u;

/** The same name made different from every other, and the same again at every start. */
export function withHash(safeName: string, serverKey: string, name: string): string {
  const hash = shortHash(`${serverKey}\0${name}`).slice(0, HASH_LENGTH);
  return `${safeName.slice(0, LONGEST_HASHED)}_${hash}`;
}
