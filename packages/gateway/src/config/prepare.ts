import { ConfigError, ConfigErrorCode } from '../errors.ts';
import { type CompleteServerConfig, completeServerConfig, type McpConfig } from './config.generated.ts';
import { formatFinding, schemaMessage, variablesMessage } from './describe-error.ts';
import { expandConfigEnvVars, type ExpansionContext } from './expand-env.ts';
import type { ConfigFinding, Findings, UnknownKey } from './findings.ts';
import { formatLocation, type JsonPath } from './json-path.ts';
import { inspectConfig, toValidation } from './validate.ts';

/** A config with variables replaced and defaults filled in. */
export interface CompleteConfig extends McpConfig {
  mcpServers: Record<string, CompleteServerConfig>;
}

export interface PrepareOptions {
  env: ExpansionContext['env'];
  /** The file the config came from, to be named in errors. */
  path?: string;
  lineOf?: (path: JsonPath) => number | undefined;
  /** Keys that the file has twice. */
  duplicates?: readonly ConfigFinding[];
}

export interface PreparedConfig {
  config: CompleteConfig;
  /** One sentence each, fit to be printed. */
  warnings: string[];
}

/** Checks a config, replaces its variables, checks what came of it and fills in the defaults. */
export function prepareConfig(value: unknown, options: PrepareOptions): PreparedConfig {
  const found = inspectConfig(value);
  sortDuplicates(found, options.duplicates ?? []);
  refuseErrors(found, options);
  const expanded = expand(value, found.unknown, options);
  refuseErrors(inspectExpanded(expanded), options);
  const warnings = toValidation(found, options.lineOf).warnings.map(formatFinding);
  // Both inspections have passed: it has the shape of the type.
  return { config: complete(expanded as McpConfig), warnings };
}

// Twice in a part that is not ours is not our concern, but worth a word.
function sortDuplicates(found: Findings, duplicates: readonly ConfigFinding[]): void {
  const foreign = new Set(found.unknown.map(({ parent, key }) => formatLocation([...parent, key])));
  const isForeign = ({ path }: ConfigFinding): boolean =>
    path.some((_, index) => foreign.has(formatLocation(path.slice(0, index + 1))));
  for (const duplicate of duplicates) (isForeign(duplicate) ? found.warnings : found.errors).push(duplicate);
}

function refuseErrors(found: Findings, { path, lineOf }: PrepareOptions): void {
  const { isValid, errors, warnings } = toValidation(found, lineOf);
  if (isValid) return;
  const inOrder = errors.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
  const details = { ...(path !== undefined && { path }), errors: inOrder, warnings };
  throw new ConfigError(schemaMessage(inOrder, path), ConfigErrorCode.INVALID_SCHEMA, details);
}

function expand(value: unknown, unknown: readonly UnknownKey[], { env }: PrepareOptions): unknown {
  // A key that nothing reads must not stop the start for a variable that it names.
  const except = new Set(unknown.map(({ parent, key }) => formatLocation([...parent, key])));
  const result = expandConfigEnvVars(value, { env, except });
  if (result.success) return result.value;
  const { missing } = result;
  const details = { ...missing[0], missing };
  throw new ConfigError(variablesMessage(result.error, missing), ConfigErrorCode.MISSING_ENV_VAR, details);
}

function inspectExpanded(value: unknown): Findings {
  const { errors, ...found } = inspectConfig(value);
  const explained = errors.map((error) => ({
    ...error,
    message: `${error.message} (as it stands once its variables are replaced)`,
  }));
  return { ...found, errors: explained };
}

function complete(config: McpConfig): CompleteConfig {
  const servers = Object.entries(config.mcpServers).map(
    ([key, server]) => [key, completeServerConfig(server)] as const,
  );
  return { ...config, mcpServers: Object.fromEntries(servers) };
}
