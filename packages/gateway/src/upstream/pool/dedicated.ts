import { Texts } from '../../errors.ts';
import { Deferred } from '../../time/deferred.ts';
import type { CurrentServers } from '../fleet/current-servers.ts';
import type { DesiredServers } from '../fleet/desired-servers.ts';
import type { LeavingServers } from '../fleet/leaving-servers.ts';
import type { ServerEvents } from '../server-options.ts';
import { UpstreamServer } from '../server.ts';
import { ServerStatus, type Upstream } from '../upstream.ts';
import type { DedicatedServer, InstanceOptions } from './instances.ts';

/** Requests and notifications of a dedicated server. */
export type DedicatedEvents = Pick<ServerEvents, 'request' | 'notification'>;

/** Servers beside those that clients share now: started once more for one client or call, and second conversations. */
export class DedicatedServers {
  readonly #desired: DesiredServers;
  readonly #current: CurrentServers;
  /** Until nothing is left of them, with what tells that they can be called no more. */
  readonly #all = new Map<UpstreamServer, Deferred<void>>();
  readonly #leaving: LeavingServers;
  #isClosed = false;

  constructor(desired: DesiredServers, current: CurrentServers, leaving: LeavingServers) {
    this.#desired = desired;
    this.#current = current;
    this.#leaving = leaving;
  }

  [Symbol.iterator](): Iterator<UpstreamServer> {
    return this.#all.keys();
  }

  /** Starts a server once more, for one client or call. */
  start(serverKey: string, options: InstanceOptions, on: DedicatedEvents): DedicatedServer {
    return this.#start(serverKey, options, on).dedicated;
  }

  /** Opens a legacy session with a remote server; returns undefined where the server speaks no legacy era, or keeps no session in it. */
  async openLegacyConnection(
    server: Upstream,
    capabilities: string,
    on: DedicatedEvents,
  ): Promise<DedicatedServer | undefined> {
    const first = this.#current.byKey.get(server.serverKey);
    if (first === undefined || first !== server) return undefined;
    const options: InstanceOptions = { capabilities, era: 'legacy', isEraFixed: true };
    const { dedicated, child } = this.#start(first.serverKey, options, on);
    await first.usage.during(dedicated.started);
    // Without a session the server cannot ask or tell anything that it does not in the modern era.
    if (child.conversation?.connection.keepsSession !== true) {
      void dedicated.stop();
      return undefined;
    }
    first.usage.setLegacySession(child.usage);
    void dedicated.ended.then(() => {
      const { log, logs } = this.#current.options.context;
      if (child.error !== undefined) logs.keeping(first.serverKey, log).warn(child.error.message);
      first.usage.setLegacySession(undefined);
    });
    return dedicated;
  }

  /** Ends all of a server's processes and conversations but the one that clients share. */
  stopOf(serverKey: string): void {
    for (const child of this.#of(serverKey)) void this.#end(child);
  }

  /** Hands over the instances of a removed or changed server, which get no new calls from now on. */
  handOver(serverKey: string): UpstreamServer[] {
    const all = this.#of(serverKey);
    for (const child of all) this.#over(child);
    return all;
  }

  /** The gateway ends: nothing is started any more. */
  close(): void {
    this.#isClosed = true;
  }

  #of(key: string): UpstreamServer[] {
    return [...this].filter(({ serverKey }) => serverKey === key);
  }

  #start(
    serverKey: string,
    { capabilities, cwd, era, isEraFixed }: InstanceOptions,
    on: DedicatedEvents,
  ): { dedicated: DedicatedServer; child: UpstreamServer } {
    if (this.#isClosed) throw new Error(Texts.shuttingDown());
    const ended = new Deferred<void>();
    const config = { ...this.#desired.configOf(serverKey), ...(cwd !== undefined && { cwd }) };
    const child = new UpstreamServer(serverKey, config, {
      ...this.#current.options,
      capabilities: Promise.resolve(capabilities),
      era,
      isEraFixed,
      isClientFolder: cwd !== undefined,
      chosenEra: undefined,
      on: { changed() {}, ...on, crashed: () => this.#over(child) },
    });
    this.#all.set(child, ended);
    const started = this.#startNext(child);
    started.catch(() => this.#over(child));
    const stop = (): Promise<void> => this.#end(child);
    return { child, dedicated: { upstream: child, started, ended: ended.promise, stop } };
  }

  /** Starts an instance once nothing is left of earlier entries of its server: the two might quarrel over a port or a file. */
  async #startNext(child: UpstreamServer): Promise<void> {
    const { serverKey } = child;
    for (let gone = this.#leaving.gone(serverKey); gone !== undefined; gone = this.#leaving.gone(serverKey))
      await gone;
    if (this.#isClosed) throw new Error(Texts.shuttingDown());
    // Its client may have left meanwhile.
    if (child.status === ServerStatus.STOPPED)
      throw new Error(`Server '${serverKey}' was stopped before it started`);
    await child.start();
  }

  async #end(child: UpstreamServer): Promise<void> {
    const rest = child.retire();
    this.#all.get(child)?.resolve();
    await rest?.stop();
    this.#over(child);
  }

  #over(child: UpstreamServer): void {
    this.#all.get(child)?.resolve();
    this.#all.delete(child);
  }
}
