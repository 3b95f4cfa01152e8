import { checkMcpConfig } from './config.generated.ts';
import { didYouMean } from './did-you-mean.ts';
import { type ConfigFinding, createFindings, type Findings, type UnknownKey } from './findings.ts';
import { formatPath, type JsonPath } from './json/json-path.ts';
import { type Adopted, adoptConfig } from './other-hosts.ts';
import { keyInPlaceOf } from './other-spellings.ts';
import { checkRules } from './rules.ts';

/** One mistake in a config. */
export interface ValidationError {
  /** Path, such as `$.mcpServers.files.args`. */
  path: string;
  /** Mistake and remedy; never a value of the config. */
  message: string;
  /** The value found, for programs; it may be secret. */
  value?: unknown;
  /** The line of the file, where the config came from one. */
  line?: number;
}

export interface ConfigValidation {
  isValid: boolean;
  /** Every mistake, not only the first. */
  errors: ValidationError[];
  /** Keys that are ignored or look unintended; `validateConfig` always sets it. */
  warnings?: ValidationError[];
}

/** Checks a config that is already an object; starts nothing, reads nothing. */
export function validateConfig(config: unknown): Required<ConfigValidation> {
  const adopted = adoptConfig(config);
  return toValidation(inspectAdopted(adopted), adopted);
}

/** All findings in a config that may be of another host, with their paths still in parts. */
export function inspectAdopted({ value, errors, warnings }: Adopted, isExpanded = false): Findings {
  const found = inspectConfig(value, isExpanded);
  return { ...found, errors: [...errors, ...found.errors], warnings: [...warnings, ...found.warnings] };
}

/** All findings, with their paths still in parts. */
export function inspectConfig(config: unknown, isExpanded: boolean): Findings {
  const found = createFindings(isExpanded);
  checkMcpConfig(config, [], found);
  checkRules(config, found);
  return found;
}

/** Finds the place of a part of the config in the file, and its line. */
export interface Places {
  readonly originOf?: (path: JsonPath) => JsonPath;
  readonly lineOf?: ((path: JsonPath) => number | undefined) | undefined;
}

/** Findings as the outside sees them, in the words of the file. */
export function toValidation(
  found: Findings,
  { originOf = (path) => path, lineOf = () => undefined }: Places,
): Required<ConfigValidation> {
  const report = ({ path, ...finding }: ConfigFinding): ValidationError => {
    const origin = originOf(path);
    const line = lineOf(origin);
    return { path: formatPath(origin), ...finding, ...(line !== undefined && { line }) };
  };
  return {
    isValid: found.errors.length === 0,
    errors: found.errors.map(report),
    warnings: [...found.warnings, ...describeUnknown(found.unknown)].map(report),
  };
}

// One warning for each object: a host's own file may have dozens of keys that mean nothing here.
function describeUnknown(unknown: readonly UnknownKey[]): ConfigFinding[] {
  const byParent = new Map<JsonPath, UnknownKey[]>();
  for (const item of unknown) byParent.set(item.parent, [...(byParent.get(item.parent) ?? []), item]);
  return [...byParent].map(([path, items]) => ({ path, message: describeKeys(items) }));
}

const MOST_KEYS = 8;

function describeKeys(items: readonly UnknownKey[]): string {
  const named = items.slice(0, MOST_KEYS).map(({ key, known }) => {
    const near = didYouMean(key, known);
    const meant = near === undefined ? keyInPlaceOf(key, known) : `"${near}"`;
    return JSON.stringify(key) + (meant === undefined ? '' : ` (did you mean ${meant}?)`);
  });
  const more = items.length > MOST_KEYS ? ` and ${items.length - MOST_KEYS} more` : '';
  return `Unknown ${items.length === 1 ? 'key' : 'keys'} ignored: ${named.join(', ')}${more}`;
}
