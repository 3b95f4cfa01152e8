import { within } from '../time/timeouts.ts';
import type { Stoppable } from './connection.ts';
import type { Guard } from './process/guard.ts';
import { STOP_TIMING, type StopTiming } from './process/process-group.ts';

const LONGEST_GRACE_MS = 2000;

export interface StopOptions {
  readonly timing?: StopTiming | undefined;
  readonly now?: () => number;
}

/** Stops all servers at once. The guard sends SIGTERM and SIGKILL to processes that have left their groups, when slow servers get theirs. */
export async function stopServers(
  servers: Iterable<Stoppable>,
  guard: Guard,
  { timing, now = () => performance.now() }: StopOptions = {},
): Promise<void> {
  const began = now();
  const stopped = Promise.all(Array.from(servers, (server) => server.stop(timing)));
  const { eofMs, termMs } = timing ?? STOP_TIMING;
  const remaining = (): number => Math.max(0, eofMs + termMs - (now() - began));
  if (!(await within(eofMs, stopped))) guard.sweep();
  // When its time has come the guard does not wait for servers that are slow to die.
  await within(remaining(), stopped);
  await Promise.all([guard.release(Math.min(LONGEST_GRACE_MS, remaining())), stopped]);
}
