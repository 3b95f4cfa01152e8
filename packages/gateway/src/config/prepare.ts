import { dirname } from 'node:path';
import { ConfigError, ConfigErrorCode } from '../errors.ts';
import type { Environment } from './child-environment.ts';
import { type CompleteServerConfig, completeServerConfig, type McpConfig } from './config.generated.ts';
import { formatFinding, schemaMessage, variablesMessage } from './describe-error.ts';
import { readEnvFiles } from './env-files.ts';
import { expandConfigEnvVars, hostVariables } from './expand-env.ts';
import { type ConfigFinding, createFindings, type Findings, type UnknownKey } from './findings.ts';
import { formatLocation, type JsonPath } from './json/json-path.ts';
import { type Adopted, adoptConfig } from './other-hosts.ts';
import { inspectAdopted, inspectConfig, type Places, toValidation } from './validate.ts';

/** A config with variables replaced and defaults filled in. */
export interface CompleteConfig extends McpConfig {
  mcpServers: Record<string, CompleteServerConfig>;
}

export interface PrepareOptions {
  env: Environment;
  /** The file the config came from, to be named in errors. */
  path?: string;
  lineOf?: (path: JsonPath) => number | undefined;
  /** Keys that the file has twice. */
  duplicates?: readonly ConfigFinding[];
}

export interface PreparedConfig {
  config: CompleteConfig;
  /** The servers as they were written, before variables were replaced. */
  unexpanded: Readonly<Record<string, unknown>>;
  /** One sentence each, fit to be printed. */
  warnings: string[];
}

/** Checks a config, replaces its variables, checks what came of it and fills in the defaults. */
export function prepareConfig(value: unknown, options: PrepareOptions): PreparedConfig {
  const adopted = adoptConfig(value);
  const source = { ...adopted, ...options };
  const found = inspectAdopted(adopted);
  sortDuplicates(found, options.duplicates ?? [], adopted);
  refuseErrors(found, source);
  const expanded = expand(adopted, found.unknown, options);
  if (expanded !== adopted.value || found.isPending) refuseErrors(inspectExpanded(expanded), source);
  // Both values have passed an inspection: they have the shape of the type.
  const { mcpServers: unexpanded } = adopted.value as McpConfig;
  const config = complete(expanded as McpConfig, source, found);
  return { config, unexpanded, warnings: toValidation(found, source).warnings.map(formatFinding) };
}

/** Checks the config of a program in the same way; its texts stay as they are. `path` is where it would stand as a file. */
export function checkConfig(value: unknown, path?: string): CompleteConfig {
  const adopted = adoptConfig(value);
  refuseErrors(inspectAdopted(adopted, true), adopted);
  // The inspection has checked the type.
  return complete(adopted.value as McpConfig, { ...adopted, ...(path !== undefined && { path }) });
}

/** The origin of a config, for its errors. */
interface ConfigSource extends Places {
  readonly path?: string;
}

// Twice in a part that is not ours is not our concern, but worth a word.
function sortDuplicates(
  found: Findings,
  duplicates: readonly ConfigFinding[],
  { originOf }: Pick<Adopted, 'originOf'>,
): void {
  const foreign = new Set(found.unknown.map(({ parent, key }) => formatLocation(originOf([...parent, key]))));
  const isForeign = ({ path }: ConfigFinding): boolean =>
    path.some((_, index) => foreign.has(formatLocation(path.slice(0, index + 1))));
  for (const duplicate of duplicates) (isForeign(duplicate) ? found.warnings : found.errors).push(duplicate);
}

function refuseErrors(found: Findings, source: ConfigSource): void {
  const { path } = source;
  const { isValid, errors, warnings } = toValidation(found, source);
  if (isValid) return;
  const inOrder = errors.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
  const details = { ...(path !== undefined && { path }), errors: inOrder, warnings };
  throw new ConfigError(schemaMessage(inOrder, path), ConfigErrorCode.INVALID_SCHEMA, details);
}

function expand(
  { value, originOf }: Adopted,
  unknown: readonly UnknownKey[],
  { env, path }: PrepareOptions,
): unknown {
  // A key that nothing reads must not stop the start for a variable that it names.
  const except = new Set(unknown.map(({ parent, key }) => formatLocation([...parent, key])));
  let variables: Environment | undefined;
  const result = expandConfigEnvVars(value, {
    // Most configs refer to no variable.
    get env() {
      variables ??= { ...hostVariables(path, env), ...env };
      return variables;
    },
    except,
    originOf,
  });
  if (result.success) return result.value;
  const { missing } = result;
  const details = { ...missing[0], missing };
  throw new ConfigError(variablesMessage(result.error, missing), ConfigErrorCode.MISSING_ENV_VAR, details);
}

function inspectExpanded(value: unknown): Findings {
  const { errors, ...found } = inspectConfig(value, true);
  const explained = errors.map((error) => ({
    ...error,
    message: `${error.message} (after Weir replaced its variables)`,
  }));
  return { ...found, errors: explained };
}

/** Fills in the defaults and the variables of files; `found` gets their warnings. */
function complete(
  config: McpConfig,
  source: ConfigSource,
  { warnings }: Findings = createFindings(),
): CompleteConfig {
  const servers = Object.entries(config.mcpServers).map(
    ([key, server]) => [key, completeServerConfig(server)] as const,
  );
  const found = { ...createFindings(), warnings };
  const folder = source.path === undefined ? process.cwd() : dirname(source.path);
  const mcpServers = readEnvFiles(Object.fromEntries(servers), folder, found);
  refuseErrors(found, source);
  return { ...config, mcpServers };
}
