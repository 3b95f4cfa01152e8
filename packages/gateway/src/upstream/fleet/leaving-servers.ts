import type { UpstreamServer } from '../server.ts';

/** Time for calls in flight, once their server is removed or changed in the config. */
const DRAIN_MS = 5000;
/** Pause between two looks whether they have ended. */
const LOOK_MS = 20;

/** Servers that the config has removed or changed, with their instances, until nothing is left of them. They get no new calls. */
export class LeavingServers {
  readonly #all = new Set<UpstreamServer>();
  /** By server key: resolves when nothing is left of what was drained. */
  readonly #gone = new Map<string, Promise<unknown>>();

  [Symbol.iterator](): Iterator<UpstreamServer> {
    return this.#all.values();
  }

  /** Lets calls in flight go on for a while, then ends the servers; `what` ends a sentence about them, `cleared` is waited for as well. */
  drain(
    serverKey: string,
    servers: readonly UpstreamServer[],
    { what, cleared }: { readonly what: string; readonly cleared: Promise<unknown> | undefined },
  ): void {
    for (const server of servers) this.#all.add(server);
    const drained = servers.map((server) => this.#drain(server, what));
    const gone = Promise.all([cleared, this.gone(serverKey), ...drained]);
    this.#gone.set(serverKey, gone);
    void gone.then(() => this.gone(serverKey) === gone && this.#gone.delete(serverKey));
  }

  /** Resolves when nothing is left of a server's earlier entries, so that the next may start; undefined where that is so already. */
  gone(serverKey: string): Promise<unknown> | undefined {
    return this.#gone.get(serverKey);
  }

  /** Ends what still drains of a server. */
  stopOf(serverKey: string): void {
    for (const server of this.#all) if (server.serverKey === serverKey) void server.retire()?.stop();
  }

  async #drain(server: UpstreamServer, what: string): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    while (server.usage.isAwaited && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    await server.retire(what)?.stop();
    this.#all.delete(server);
  }
}
