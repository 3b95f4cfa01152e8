import { type ConfigError, ConfigErrorCode } from '../errors.ts';
import { type MissingVariable, printableName } from './expand-env.ts';
import type { ValidationError } from './validate.ts';

/** Returns what is wrong, where, and the remedy. Never contains a value of the config, because it may be secret. */
export function describeConfigError(error: ConfigError, outcome = 'Nothing was started.'): string {
  return [error.message, ...describeWarnings(error.details), ...adviceFor(error, outcome)].join('\n');
}

function adviceFor({ code, details }: ConfigError, outcome: string): string[] {
  // Names collide when all servers run: then it is not true that nothing was started.
  const isCollision = typeof details === 'object' && details !== null && 'collisions' in details;
  return isCollision ? ['All servers have been stopped.'] : [...ADVICE[code], outcome];
}

const ADVICE: Record<ConfigErrorCode, readonly string[]> = {
  [ConfigErrorCode.FILE_NOT_FOUND]: ['Check what follows --config.'],
  [ConfigErrorCode.INVALID_JSON]: [],
  [ConfigErrorCode.INVALID_SCHEMA]: [],
  [ConfigErrorCode.MISSING_ENV_VAR]: [
    'Set them where the gateway is started (under a host: in the "env" of its own entry),',
    'or write a default as in ${NAME:-default}.',
  ],
};

// A misspelt key is often the reason for the error above it.
function describeWarnings(details: unknown): string[] {
  if (typeof details !== 'object' || details === null || !('warnings' in details)) return [];
  return (details.warnings as ValidationError[]).map((warning) => `  note: ${formatFinding(warning)}`);
}

/** Mistakes that are named; a file with more of them is hardly a config. */
const MOST_SHOWN = 100;

/** The message for a config with mistakes: how many, then each with its place on a line of its own. */
export function schemaMessage(errors: readonly ValidationError[], path?: string): string {
  const place = path === undefined ? '' : ` in ${path}`;
  const count = errors.length === 1 ? '1 mistake' : `${errors.length} mistakes`;
  const rest = errors.length - MOST_SHOWN;
  return [
    `Invalid config: ${count}${place}`,
    ...errors.slice(0, MOST_SHOWN).map(inTwoLines),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join('\n');
}

function inTwoLines(error: ValidationError): string {
  return `  ${formatPlace(error)}\n    ${error.message}`;
}

/** The message for missing variables: their names, then each place on a line. */
export function variablesMessage(summary: string, missing: readonly MissingVariable[]): string {
  const places = missing.map(({ variable, location }) => `  ${printableName(variable)} in ${location}`);
  const hints = missing.flatMap(({ variable }) => hintFor(variable));
  return [summary, ...new Set(places), ...new Set(hints)].join('\n');
}

/** Explains a reference that means something to another host only. */
function hintFor(variable: string): string[] {
  const [, id] = /^input:([\w.-]{1,60})$/.exec(variable) ?? [];
  if (id !== undefined) {
    const name = id.toUpperCase().replaceAll(/\W/g, '_');
    return [
      `A gateway cannot ask for \${input:${id}}: put the value into an environment variable, for example ${name}, and write \${${name}} in its place.`,
    ];
  }
  if (variable.startsWith('workspaceFolder'))
    return ['This file belongs to no workspace: write the path of the folder instead of ${workspaceFolder}.'];
  const [kind] = /^(?:file|command|config)(?=:)/.exec(variable) ?? [];
  return kind === undefined
    ? []
    : [
        `A gateway does not know \${${kind}:…}: put the value into an environment variable, and write \${NAME} in its place.`,
      ];
}

/** One mistake or warning on one line. */
export function formatFinding(finding: ValidationError): string {
  return `${formatPlace(finding)}: ${finding.message}`;
}

function formatPlace({ path, line }: ValidationError): string {
  return `${path}${line === undefined ? '' : ` (line ${line})`}`;
}
