import type { Connection } from './connection.ts';
import type { Guard } from './guard.ts';
import { STOP_TIMING } from './process-group.ts';
import { within } from './within.ts';

/** When the last means is used on whatever still runs, counted from the beginning. */
const LAST_MEANS_MS = 4000;
const LONGEST_GRACE_MS = 2000;

/** Stops all servers at once. What has left their groups is the guard's: asked to end when the slow servers are, and killed when those are. */
export async function stopServers(
  servers: Iterable<Pick<Connection, 'stop'>>,
  guard: Guard,
  now: () => number = () => performance.now(),
): Promise<void> {
  const began = now();
  const stopped = Promise.all(Array.from(servers, (server) => server.stop()));
  const remaining = (): number => Math.max(0, LAST_MEANS_MS - (now() - began));
  if (!(await within(STOP_TIMING.eofMs, stopped))) guard.sweep();
  // When its time has come the guard does not wait for servers that are slow to die.
  await within(remaining(), stopped);
  await Promise.all([guard.release(Math.min(LONGEST_GRACE_MS, remaining())), stopped]);
}
