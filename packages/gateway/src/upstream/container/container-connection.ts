import { within } from '../../time/timeouts.ts';
import type { ConnectionOptions } from '../connection.ts';
import { ProcessConnection } from '../process/process-connection.ts';
import { type StopTiming, STOP_TIMING } from '../process/process-group.ts';
import type { ServerProcess } from '../process/spawn.ts';
import type { Engine } from './engine.ts';

/** When its streams have ended, the engine's command ends as well, and the engine is asked what happened. */
const OUTPUT_DRAIN_MS = 3000;

/** A server in a container that is spoken to by its stdin and stdout. */
export class AttachedConnection extends ProcessConnection {
  readonly #container: RunningContainer;
  #stopping: Promise<void> | undefined;

  constructor(container: RunningContainer, options: ConnectionOptions) {
    super(container.process, options, OUTPUT_DRAIN_MS);
    this.#container = container;
  }

  override stop(timing?: StopTiming): Promise<void> {
    this.#stopping ??= endContainer(this.#container, timing, () => this.#container.process.stdin.end());
    return this.#stopping;
  }
}

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
  // The next stage, or the reaper of a later start, repeats a stage that fails.
  if (!obeyed) await engine.stop(id, Math.ceil(timing.termMs / 1000)).catch(() => {});
  await Promise.all([engine.remove(id).catch(() => {}), process.stop(timing)]);
}
