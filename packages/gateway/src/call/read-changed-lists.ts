import { within } from '../time/timeouts.ts';
import type { Addressing } from './addressing.ts';
import type { ClientRequest } from './client-request.ts';

/** Milliseconds: a server that does not answer with its list holds up a call for no longer. */
const LONGEST_READING_MS = 1000;

/**
 * Reads the lists that servers have announced a change of, because one of them may hold the name that was not found.
 * Returns false where there are none; else `restart` runs when they are read.
 */
export function readChangedLists(
  request: ClientRequest,
  { kinds }: Addressing,
  restart: () => void,
): boolean {
  if (request.hasReadLists) return false;
  const { snapshot } = request;
  const upstreams = [...snapshot.registry.upstreams.values()];
  const readings = upstreams.flatMap((upstream) =>
    kinds.flatMap((kind) => upstream.readChanged?.(kind) ?? []),
  );
  if (readings.length === 0) return false;
  request.hasReadLists = true;
  request.wait(within(LONGEST_READING_MS, Promise.all(readings)), () => {
    request.snapshot = snapshot.current();
    restart();
  });
  return true;
}
