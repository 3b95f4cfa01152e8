import { type ConfigError, ConfigErrorCode } from '../errors.ts';
import { type MissingVariable, printableName } from './expand-env.ts';
import type { ValidationError } from './validate.ts';

/** All that somebody needs who reads it at night: what, where, and what to do. Never a value of the config. */
export function describeConfigError(error: ConfigError): string {
  return [error.message, ...describeWarnings(error.details), ADVICE[error.code]].filter(Boolean).join('\n');
}

const ADVICE: Record<ConfigErrorCode, string> = {
  [ConfigErrorCode.FILE_NOT_FOUND]: 'Check the path of the config file. Nothing was started.',
  [ConfigErrorCode.INVALID_JSON]: 'Nothing was started.',
  [ConfigErrorCode.INVALID_SCHEMA]: 'Nothing was started.',
  [ConfigErrorCode.MISSING_ENV_VAR]:
    'Set them in the environment, or write a default as in ${NAME:-default}. Nothing was started.',
};

// A misspelt key is often the reason for the error above it.
function describeWarnings(details: unknown): string[] {
  if (typeof details !== 'object' || details === null || !('warnings' in details)) return [];
  return (details.warnings as ValidationError[]).map((warning) => `  note: ${formatFinding(warning)}`);
}

/** The message for a config with mistakes: how many, then each on a line. */
export function schemaMessage(errors: readonly ValidationError[], path?: string): string {
  const place = path === undefined ? '' : ` in ${path}`;
  const count = errors.length === 1 ? '1 mistake' : `${errors.length} mistakes`;
  return [`Invalid config: ${count}${place}`, ...errors.map((error) => `  ${formatFinding(error)}`)].join(
    '\n',
  );
}

/** The message for missing variables: their names, then each place on a line. */
export function variablesMessage(summary: string, missing: readonly MissingVariable[]): string {
  const places = missing.map(({ variable, location }) => `  ${printableName(variable)} in ${location}`);
  return [summary, ...new Set(places)].join('\n');
}

/** One mistake or warning on one line. */
export function formatFinding({ path, line, message }: ValidationError): string {
  return `${path}${line === undefined ? '' : ` (line ${line})`}: ${message}`;
}
