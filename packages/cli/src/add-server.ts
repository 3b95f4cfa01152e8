import { isDeepStrictEqual } from 'node:util';
import { loadConfig } from '@weir/gateway';
import { CliError } from './errors.ts';
import type { Environment } from './values.ts';

export interface NewServer {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface ConfigText {
  readonly path: string;
  readonly text: string;
  readonly env: Environment;
}

/** Matches the begin of the object that holds the servers: Weir's and most hosts' key, VS Code's, Zed's. */
const SERVERS = /"(?:mcpServers|servers|context_servers)"\s*:\s*\{/gu;

/**
 * Returns the text of a config with one server more; comments and layout stay. A pattern finds the place, and loading the
 * result proves it, because comments and strings may hold the pattern, too.
 */
export function addServer(config: ConfigText, { name, entry }: NewServer): string {
  const before = serversOf(config);
  if (Object.hasOwn(before, name))
    throw new CliError(
      `${config.path} already has a server '${name}': choose another name, or remove that one.`,
    );
  const row = `${JSON.stringify(name)}: ${inOneLine(entry)}`;
  const expected = { ...before, [name]: entry };
  const isRight = (text: string): boolean => {
    try {
      return isDeepStrictEqual(serversOf({ ...config, text }), expected);
    } catch {
      return false;
    }
  };
  const changed = candidates(config.text, row, Object.keys(before).length === 0).find(isRight);
  if (changed !== undefined) return changed;
  throw new CliError(`${config.path} has no plain list of servers. Add this line to it by hand:\n  ${row}`);
}

/** Reads the servers as the file has them, before variables are replaced; throws a `ConfigError` for one that is not valid. */
function serversOf({ path, text, env }: ConfigText): Readonly<Record<string, unknown>> {
  return loadConfig(path, { env, readFile: () => text }).unexpanded;
}

/** Returns the text with the row at each place that looks like the first of a list of servers. */
function candidates(text: string, row: string, isFirst: boolean): string[] {
  return [...text.matchAll(SERVERS)].map(({ index, 0: opening }) => {
    const at = index + opening.length;
    const [, outer = ''] = /([ \t]*)[^\n]*$/u.exec(text.slice(0, index)) ?? [];
    const rest = text.slice(at);
    const [, inner = `${outer}  `] = /^\s*\n([ \t]+)["/]/u.exec(rest) ?? [];
    const tail = /^\s*\}/u.test(rest) ? `\n${outer}${rest.trimStart()}` : rest;
    return `${text.slice(0, at)}\n${inner}${row}${isFirst ? '' : ','}${tail}`;
  });
}

/** Returns JSON in one line, with the spaces that a person would write. */
export function inOneLine(value: unknown): string {
  return JSON.stringify(value, undefined, 1)
    .replaceAll(/\n\s*/gu, ' ')
    .replaceAll(/\[ | \]/gu, (bracket) => bracket.trim());
}
