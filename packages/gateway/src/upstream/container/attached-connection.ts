import type { ConnectionOptions } from '../connection.ts';
import { ProcessConnection } from '../process-connection.ts';
import { endContainer, type RunningContainer } from './end-container.ts';

/** A server in a container that is spoken to by its stdin and stdout. */
export class AttachedConnection extends ProcessConnection {
  readonly #container: RunningContainer;
  #stopping: Promise<void> | undefined;

  constructor(container: RunningContainer, options: ConnectionOptions) {
    super(container.process, options);
    this.#container = container;
  }

  override stop(): Promise<void> {
    this.#stopping ??= endContainer(this.#container, () => this.#container.process.stdin.end());
    return this.#stopping;
  }
}
