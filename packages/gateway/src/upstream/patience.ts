import type { ServerConfig } from '../config/config.generated.ts';
import type { StartLimit } from './deadline.ts';
import { isLauncher } from './launcher.ts';

/** How long a start and an unanswered probe may take, in milliseconds. */
export interface Patience extends StartLimit {
  readonly probe: number;
}

const USUAL: Patience = { startup: 5000, longest: 30_000, probe: 2000 };
/** For programs that may have to download the server first. */
const FOR_LAUNCHERS: Patience = { startup: 60_000, longest: 60_000, probe: 30_000 };
/** For servers elsewhere, some of which are woken up by the first request. */
const FOR_REMOTE: Patience = { startup: 30_000, longest: 30_000, probe: 10_000 };

/** Its own entry says best how long a server may take to start, then the command line: such a limit is kept to the letter. */
export function patienceWith(config: ServerConfig, startupTimeout: number | undefined): Patience {
  const usual = usualWith(config);
  const fixed = config.startupTimeout ?? startupTimeout;
  return fixed === undefined ? usual : { ...usual, startup: fixed, longest: fixed };
}

function usualWith({ command, args = [] }: ServerConfig): Patience {
  if (command === undefined) return FOR_REMOTE;
  return isLauncher(command, args) ? FOR_LAUNCHERS : USUAL;
}
