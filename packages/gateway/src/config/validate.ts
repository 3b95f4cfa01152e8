import { checkMcpConfig } from './config.generated.ts';
import { didYouMean } from './did-you-mean.ts';
import { type ConfigFinding, createFindings, type Findings, type UnknownKey } from './findings.ts';
import { formatPath, type JsonPath } from './json-path.ts';
import { checkRules } from './rules.ts';

/** One mistake in a config. */
export interface ValidationError {
  /** Where it stands, such as `$.mcpServers.files.args`. */
  path: string;
  /** What is wrong and what to write instead; never a value of the config. */
  message: string;
  /** What stood there, for programs; it may be secret. */
  value?: unknown;
  /** The line of the file, where the config came from one. */
  line?: number;
}

export interface ConfigValidation {
  isValid: boolean;
  /** Every mistake, not only the first. */
  errors: ValidationError[];
  /** What is ignored or looks unintended; `validateConfig` always sets it. */
  warnings?: ValidationError[];
}

/** Checks a config that is already an object; starts nothing, reads nothing. */
export function validateConfig(config: unknown): Required<ConfigValidation> {
  return toValidation(inspectConfig(config));
}

/** All findings, with their paths still in parts. */
export function inspectConfig(config: unknown): Findings {
  const found = createFindings();
  checkMcpConfig(config, [], found);
  checkRules(config, found);
  return found;
}

/** Findings as the outside sees them; `lineOf` adds the lines of the file. */
export function toValidation(
  found: Findings,
  lineOf: (path: JsonPath) => number | undefined = () => undefined,
): Required<ConfigValidation> {
  const report = ({ path, ...finding }: ConfigFinding): ValidationError => {
    const line = lineOf(path);
    return { path: formatPath(path), ...finding, ...(line !== undefined && { line }) };
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
    const meant = didYouMean(key, known);
    return JSON.stringify(key) + (meant === undefined ? '' : ` (did you mean "${meant}"?)`);
  });
  const more = items.length > MOST_KEYS ? ` and ${items.length - MOST_KEYS} more` : '';
  return `Unknown ${items.length === 1 ? 'key' : 'keys'} ignored: ${named.join(', ')}${more}`;
}
