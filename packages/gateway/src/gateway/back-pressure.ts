import type { Upstream } from '../upstream/upstream.ts';

/** Pauses the output of all servers while the client on stdio does not read. */
export class BackPressure {
  readonly #servers: () => readonly Upstream[];
  #isOn = false;

  /** `servers` returns all connections to servers, also those of dedicated instances. */
  constructor(servers: () => readonly Upstream[]) {
    this.#servers = servers;
  }

  /** Pauses all servers, or resumes them. */
  apply(isOn: boolean): void {
    this.#isOn = isOn;
    for (const server of this.#servers()) server.hold(isOn);
  }

  /** Pauses a server that has just connected, where the others are paused. */
  include(server: Upstream): void {
    if (this.#isOn) server.hold(true);
  }
}
