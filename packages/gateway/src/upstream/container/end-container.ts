import { within } from '../../time/timeouts.ts';
import { STOP_TIMING, type StopTiming } from '../process/process-group.ts';
import type { ServerProcess } from '../process/spawn.ts';
import type { Engine } from './engine.ts';

/** A container, and the command that is attached to it. */
export interface RunningContainer {
  readonly id: string;
  readonly engine: Engine;
  readonly process: ServerProcess;
}

/** Ends a container in stages: by its own means where it has some, by SIGTERM, by SIGKILL. Then nothing is left of it. */
export async function endContainer(
  container: RunningContainer,
  timing: StopTiming = STOP_TIMING,
  ask?: () => void,
): Promise<void> {
  const { id, engine, process } = container;
  ask?.();
  const obeyed = ask !== undefined && (await within(timing.eofMs, process.exited));
  // What fails here is tried by the next, and at last by the reaper of another start.
  if (!obeyed) await engine.stop(id, Math.ceil(timing.termMs / 1000)).catch(() => {});
  await Promise.all([engine.remove(id).catch(() => {}), process.stop(timing)]);
}
