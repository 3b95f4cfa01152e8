import type { ServerConfig } from '../config/config.generated.ts';
import type { StartLimit } from '../time/deadline.ts';
import { isLauncher } from './process/launcher.ts';

/** How long a start and an unanswered probe may take, in milliseconds. */
export interface StartupTimeouts extends StartLimit {
  readonly probe: number;
}

const DEFAULT_TIMEOUTS: StartupTimeouts = { startup: 5000, longest: 30_000, probe: 2000 };
/** For programs that may have to download the server first. */
const LAUNCHER_TIMEOUTS: StartupTimeouts = { startup: 60_000, longest: 60_000, probe: 30_000 };
/** For servers elsewhere, some of which are woken up by the first request. */
const REMOTE_TIMEOUTS: StartupTimeouts = { startup: 30_000, longest: 30_000, probe: 10_000 };

/** Its own entry says best how long a server may take to start, then the command line: such a limit is kept to the letter. */
export function startupTimeouts(config: ServerConfig, startupTimeout: number | undefined): StartupTimeouts {
  const usual = defaultTimeouts(config);
  const fixed = config.startupTimeout ?? startupTimeout;
  return fixed === undefined ? usual : { ...usual, startup: fixed, longest: fixed };
}

function defaultTimeouts({ command, args = [] }: ServerConfig): StartupTimeouts {
  if (command === undefined) return REMOTE_TIMEOUTS;
  return isLauncher(command, args) ? LAUNCHER_TIMEOUTS : DEFAULT_TIMEOUTS;
}
