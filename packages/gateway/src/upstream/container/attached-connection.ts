import type { ConnectionOptions } from '../connection.ts';
import { ProcessConnection } from '../process/process-connection.ts';
import type { StopTiming } from '../process/process-group.ts';
import { endContainer, type RunningContainer } from './end-container.ts';

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
