import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { GIVEN_FILE, readWhole } from '@weir/server/internal';
import { ConfigError, ConfigErrorCode } from '../errors.ts';
import type { Environment } from './child-environment.ts';
import type { ConfigFinding } from './findings.ts';
import {
  type DuplicateKey,
  JsonSyntaxError,
  NOT_UTF8,
  type ParsedJson,
  parseJson,
} from './json/parse-json.ts';
import { adoptConfig } from './other-hosts.ts';
import { type CompleteConfig, prepareConfig } from './prepare.ts';

export interface LoadedConfig {
  config: CompleteConfig;
  /** One sentence each, fit to be printed. */
  warnings: string[];
  path: string;
  /** The servers as they stand in the file, before variables are replaced. */
  unexpanded: Readonly<Record<string, unknown>>;
}

export interface LoadOptions {
  env: Environment;
  readFile?: (path: string) => string;
}

/** Reads, checks and completes a config file; whatever is wrong with it is a `ConfigError`. Nothing else runs yet, so it does not yield. */
export function loadConfig(path: string, { env, readFile = readText }: LoadOptions): LoadedConfig {
  const text = readOrExplain(path, readFile);
  const { value, duplicates, lineOf } = parseFile(text, path);
  return { ...prepareConfig(value, { env, path, lineOf, duplicates: duplicates.map(toFinding) }), path };
}

function parseFile(text: string, path: string): ParsedJson {
  // An expression that ignores case would load tables of Unicode.
  const jsonc = path.toLowerCase().endsWith('.jsonc');
  try {
    return parseConfigText(text, { jsonc, path });
  } catch (error) {
    const tolerated = jsonc ? undefined : parseHostFile(text, path);
    if (tolerated === undefined) throw error;
    return tolerated;
  }
}

/** Some hosts allow comments in their .json files, which are told by their name or layout. */
function parseHostFile(text: string, path: string): ParsedJson | undefined {
  try {
    const parsed = parseJson(text, { jsonc: true });
    return basename(path) === 'settings.json' || adoptConfig(parsed.value).isForeign ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  const bytes = readWhole(path, GIVEN_FILE);
  const text = bytes.toString('utf8');
  // `toString` silently replaces invalid bytes, which would change a password.
  const unclear = text.indexOf('\uFFFD');
  if (unclear !== -1 && !isUtf8(bytes)) throw new JsonSyntaxError(NOT_UTF8, text, unclear);
  return text;
}

function readOrExplain(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalidJson(error, path);
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const message =
      `Config file not found: ${path}` + (WHY_UNREADABLE.get(reason) ?? ` cannot be read (${reason})`);
    throw Object.assign(new ConfigError(message, ConfigErrorCode.FILE_NOT_FOUND, { path, reason }), {
      cause: error,
    });
  }
}

const WHY_UNREADABLE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', ''],
  ['ENOTDIR', ''],
  ['EISDIR', ' is a directory; name the file in it'],
  ['EACCES', ' may not be read by this user; check its permissions'],
  ['EPERM', ' may not be read by this user; check its permissions'],
  ['ENOTFILE', ' is a device, not a file; name a file'],
  ['ENXIO', ' is a device or a socket, not a file; name a file'],
  ['EFBIG', ` is larger than ${GIVEN_FILE.most / 1024 / 1024} MiB; check that it is a config`],
  ['ETIMEDOUT', ` is a pipe that its writer did not close within ${GIVEN_FILE.pipeMs / 1000} s`],
]);

/** Reads the text of a config; `path` is only there to be named in errors. */
export function parseConfigText(text: string, options: { jsonc?: boolean; path?: string } = {}): ParsedJson {
  const { jsonc = false, path } = options;
  try {
    return parseJson(text, { jsonc });
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw invalidJson(error, path);
  }
}

function invalidJson({ line, column, message }: JsonSyntaxError, path: string | undefined): ConfigError {
  const place = `${path === undefined ? '' : ` in ${path}`}, line ${line}, column ${column}`;
  const details = { ...(path !== undefined && { path }), line, column };
  return new ConfigError(`Invalid JSON${place}: ${message}`, ConfigErrorCode.INVALID_JSON, details);
}

function toFinding({ path, lines: [first, second] }: DuplicateKey): ConfigFinding {
  const where = first === second ? `on line ${first}` : `on lines ${first} and ${second}`;
  return { path, message: `Key written twice, ${where}: keep one of them` };
}
