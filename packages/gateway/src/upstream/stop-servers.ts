import type { Connection } from './connection.ts';
import type { Guard } from './guard.ts';
import { STOP_TIMING } from './process-group.ts';
import { within } from './within.ts';

/** When the last means is used on whatever still runs, counted from the beginning. */
const LAST_MEANS_MS = 4100;
const LONGEST_GRACE_MS = 2000;

/** Stops all servers at once. What has left their groups is the guard's: asked to end when the slow servers are, and killed when those are. */
export async function stopServers(
  servers: Iterable<Pick<Connection, 'stop'>>,
  guard: Guard,
  now: () => number = () => performance.now(),
): Promise<void> {
  const began = now();
  const stopped = Promise.all(Array.from(servers, (server) => server.stop()));
  if (!(await within(STOP_TIMING.eofMs, stopped))) guard.sweep();
  await stopped;
  const remaining = LAST_MEANS_MS - (now() - began);
  await guard.release(Math.min(LONGEST_GRACE_MS, Math.max(0, remaining)));
}
