import type { ServerConfig } from '../config/config.generated.ts';
import { isLauncher } from './launcher.ts';

/** How long a start and an unanswered probe may take, in milliseconds. */
export interface Patience {
  readonly startup: number;
  readonly probe: number;
}

const USUAL: Patience = { startup: 5000, probe: 2000 };
/** For programs that may have to download the server first. */
const FOR_LAUNCHERS: Patience = { startup: 60_000, probe: 30_000 };
/** For servers elsewhere, some of which are woken up by the first request. */
const FOR_REMOTE: Patience = { startup: 30_000, probe: 10_000 };

/** Its own entry says best how long a server may take to start, then the command line. */
export function patienceWith(config: ServerConfig, startupTimeout: number | undefined): Patience {
  const usual = usualWith(config);
  return { ...usual, startup: config.startupTimeout ?? startupTimeout ?? usual.startup };
}

function usualWith({ command, args = [] }: ServerConfig): Patience {
  if (command === undefined) return FOR_REMOTE;
  return isLauncher(command, args) ? FOR_LAUNCHERS : USUAL;
}
