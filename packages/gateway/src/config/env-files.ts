import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { GIVEN_FILE, readWhole } from '../read-file.ts';
import type { CompleteServerConfig } from './config.generated.ts';
import type { ConfigFinding } from './findings.ts';
import { isSwitchedOff, ServerKind, serverKind } from './server-entry.ts';

type Servers = Record<string, CompleteServerConfig>;

/** Replaces every "envFile" by the variables in it. Relative paths start at `folder`; mistakes are added to `errors`. */
export function readEnvFiles(servers: Servers, folder: string, errors: ConfigFinding[]): Servers {
  if (Object.values(servers).every(({ envFile }) => envFile === undefined)) return servers;
  const entries = Object.entries(servers).map(
    ([key, { envFile, ...entry }]): [string, CompleteServerConfig] => {
      if (envFile === undefined || isSwitchedOff(entry) || serverKind(entry) === ServerKind.REMOTE)
        return [key, entry];
      const variables = readVariables(resolve(folder, envFile), (message) =>
        errors.push({ path: ['mcpServers', key, 'envFile'], message, value: envFile }),
      );
      return [key, { ...entry, env: { ...variables, ...entry.env } }];
    },
  );
  return Object.fromEntries(entries);
}

function readVariables(file: string, failed: (message: string) => void): Record<string, string> {
  try {
    return parseEnv(readWhole(file, GIVEN_FILE).toString('utf8')) as Record<string, string>;
  } catch (error) {
    failed(`envFile cannot be read: ${reasonOf(error as NodeJS.ErrnoException, file)}`);
    return {};
  }
}

function reasonOf({ code = 'unknown', message }: NodeJS.ErrnoException, file: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no file ${file}`;
  if (code === 'EACCES' || code === 'EPERM') return `${file} may not be read (${code})`;
  return message;
}
