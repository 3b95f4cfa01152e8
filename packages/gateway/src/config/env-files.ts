import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { GIVEN_FILE, readWhole } from '@weir/server/internal';
import type { CompleteServerConfig } from './config.generated.ts';
import type { ConfigFinding, Findings } from './findings.ts';
import { isStarted, isSwitchedOff, serverKind } from './server-kind.ts';

type CompleteServers = Record<string, CompleteServerConfig>;

/** Replaces every "envFile" by the variables in it. Relative paths start at `folder`; mistakes are added to `found`. */
export function readEnvFiles(servers: CompleteServers, folder: string, found: Findings): CompleteServers {
  if (Object.values(servers).every(({ envFile }) => envFile === undefined)) return servers;
  const entries = Object.entries(servers).map(
    ([key, { envFile, ...entry }]): [string, CompleteServerConfig] => {
      if (envFile === undefined || isSwitchedOff(entry) || !isStarted(serverKind(entry))) return [key, entry];
      const finding = (message: string): ConfigFinding => ({
        path: ['mcpServers', key, 'envFile'],
        message,
        value: envFile,
      });
      const variables = readVariables(resolve(folder, envFile), {
        failed: (message) => found.errors.push(finding(message)),
        warn: (message) => found.warnings.push(finding(message)),
      });
      return [key, { ...entry, env: { ...variables, ...entry.env } }];
    },
  );
  return Object.fromEntries(entries);
}

interface Told {
  readonly failed: (message: string) => void;
  readonly warn: (message: string) => void;
}

function readVariables(file: string, { failed, warn }: Told): Record<string, string> {
  try {
    const { text, stray } = withoutStrayLines(readWhole(file, GIVEN_FILE).toString('utf8'));
    const named = stray.slice(0, MOST_NAMED).join(', ');
    if (stray.length > 0)
      warn(`envFile has lines that set no variable and are ignored (${named}): write NAME=value`);
    return parseEnv(text) as Record<string, string>;
  } catch (error) {
    failed(`envFile cannot be read: ${reasonOf(error as NodeJS.ErrnoException, file)}`);
    return {};
  }
}

/** Lines of one file that a warning names. */
const MOST_NAMED = 5;

/**
 * Takes out the lines that neither set a variable, nor are a comment, empty or part of a quoted value, and returns their
 * numbers: Node's parser would make them part of the next name.
 */
function withoutStrayLines(text: string): { readonly text: string; readonly stray: readonly string[] } {
  const stray: string[] = [];
  let quote = '';
  const lines = text.split('\n').filter((line, index) => {
    const opened = /^[^#=]*=\s*(["'`])((?:(?!\1).)*)$/su.exec(line)?.[1];
    if (quote !== '') quote = line.includes(quote) ? '' : quote;
    else if (opened !== undefined) quote = opened;
    else if (!/^\s*(?:#|$)|=/u.test(line)) {
      stray.push(`line ${index + 1}`);
      return false;
    }
    return true;
  });
  return { text: lines.join('\n'), stray };
}

function reasonOf({ code = 'unknown', message }: NodeJS.ErrnoException, file: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no file ${file}`;
  if (code === 'EACCES' || code === 'EPERM') return `${file} may not be read (${code})`;
  return message;
}
