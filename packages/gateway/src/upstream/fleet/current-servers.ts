import { ALL_CAPABILITIES } from '../../protocol/capabilities.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ServerOptions } from '../server-options.ts';
import { UpstreamServer } from '../server.ts';
import { ServerStatus } from '../upstream.ts';
import type { DesiredServers } from './desired-servers.ts';
import type { LocalEras } from './local-eras.ts';

export interface CurrentServersOptions extends Pick<ServerOptions, 'context' | 'capabilities' | 'on'> {
  readonly desired: DesiredServers;
  readonly eras: LocalEras;
  /** Returns the lists that are stored or locked. */
  cachedLists(serverKey: string): Catalogue | undefined;
}

/** The latest run of each server of the config, whatever its state. The next run takes its place. */
export class CurrentServers {
  /** Options of every run. Changed lists and losses count for the latest run only. */
  readonly options: ServerOptions;
  readonly #desired: DesiredServers;
  readonly #eras: LocalEras;
  readonly #earlierLists = new Map<string, Catalogue>();
  #byKey = new Map<string, UpstreamServer>();

  constructor(options: CurrentServersOptions) {
    const { desired, eras, context, capabilities, on } = options;
    this.#desired = desired;
    this.#eras = eras;
    this.options = {
      context,
      capabilities,
      chosenEra: (key) => eras.of(key),
      earlierLists: (key) => options.cachedLists(key) ?? this.#earlierLists.get(key),
      on: {
        ...on,
        prepare: (server, ...list) => (this.isCurrent(server) ? on.prepare?.(server, ...list) : undefined),
        changed: (server, kinds) => this.isCurrent(server) && on.changed(server, kinds),
        crashed: (server, error) => this.isCurrent(server) && on.crashed(server, error),
      },
    };
  }

  /** The runs by the keys of their servers, in the order of the config. */
  get byKey(): ReadonlyMap<string, UpstreamServer> {
    return this.#byKey;
  }

  /** Returns the servers that can be called. */
  running(): UpstreamServer[] {
    return [...this.#byKey.values()].filter(({ status }) => status === ServerStatus.RUNNING);
  }

  /** Returns the error of the first server that has failed. */
  firstError(): Error | undefined {
    return [...this.#byKey.values()].find(({ status }) => status === ServerStatus.FAILED)?.error;
  }

  /** Returns false for an earlier run, and for a dedicated instance. */
  isCurrent(server: UpstreamServer): boolean {
    return this.#byKey.get(server.serverKey) === server;
  }

  /** Returns the name under which a server asks users; undefined where it is the only server. */
  askerOf(serverKey: string): string | undefined {
    if (this.#byKey.size < 2) return undefined;
    return this.#desired.configOf(serverKey).name ?? serverKey;
  }

  /** Creates the next run of a server. Its lists keep the order of those before. */
  create(serverKey: string): UpstreamServer {
    const before = this.#byKey.get(serverKey)?.catalogue;
    if (before !== undefined) this.#earlierLists.set(serverKey, before);
    // The capabilities that the servers got may be those of no client: the first one came later.
    const options = this.#eras.isSwitched(serverKey)
      ? { ...this.options, capabilities: Promise.resolve(ALL_CAPABILITIES) }
      : this.options;
    const server = new UpstreamServer(serverKey, this.#desired.configOf(serverKey), options);
    this.#byKey.set(serverKey, server);
    return server;
  }

  /** Forgets a server, and what its next run would need of this one. */
  remove(serverKey: string): void {
    this.#byKey.delete(serverKey);
    this.#earlierLists.delete(serverKey);
    this.#eras.forget(serverKey);
  }

  /** Sorts the servers as the config has them; returns true where that changes their order. */
  sort(): boolean {
    const before = [...this.#byKey.keys()];
    const inOrder = this.#desired.keys().flatMap((key) => {
      const server = this.#byKey.get(key);
      return server === undefined ? [] : [[key, server] as const];
    });
    this.#byKey = new Map(inOrder);
    return inOrder.some(([key], index) => key !== before[index]);
  }
}
