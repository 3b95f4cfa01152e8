import { Texts } from '../../errors.ts';
import { Deferred } from '../../time/deferred.ts';
import type { CurrentServers } from '../fleet/current-servers.ts';
import type { DesiredServers } from '../fleet/desired-servers.ts';
import type { ServerEvents } from '../server-options.ts';
import { UpstreamServer } from '../server.ts';
import type { Upstream } from '../upstream.ts';
import type { DedicatedServer, InstanceOptions } from './instances.ts';

/** Time for calls in flight, once their server is removed or changed in the config. */
const DRAIN_MS = 5000;
/** Pause between two looks whether they have ended. */
const LOOK_MS = 20;

/** Requests and notifications of a dedicated server. */
export type DedicatedEvents = Pick<ServerEvents, 'request' | 'notification'>;

/** Servers beside those that clients share now: started once more for one client or call, second conversations, those on their way out. */
export class DedicatedServers {
  readonly #desired: DesiredServers;
  readonly #current: CurrentServers;
  /** Until nothing is left of them, with what tells that they can be called no more. */
  readonly #all = new Map<UpstreamServer, Deferred<void>>();
  /** By server key: resolves when all instances of a removed or changed server have stopped. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  #isClosed = false;

  constructor(desired: DesiredServers, current: CurrentServers) {
    this.#desired = desired;
    this.#current = current;
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

  /** Drains a removed or changed server and its instances: calls in flight go on for a while, new calls do not reach them. */
  dismiss(child: UpstreamServer, what: string, cleared: Promise<unknown> | undefined): void {
    const { serverKey } = child;
    this.#all.set(child, new Deferred());
    const all = this.#of(serverKey);
    // New calls are not for these.
    for (const one of all) this.#all.get(one)?.resolve();
    const ended = Promise.all([
      cleared,
      this.leaving(serverKey),
      ...all.map((one) => this.#drain(one, what)),
    ]);
    this.#leaving.set(serverKey, ended);
    void ended.then(() => this.leaving(serverKey) === ended && this.#leaving.delete(serverKey));
  }

  /** Resolves when nothing is left of what was dismissed; undefined where that is so already. */
  leaving(serverKey: string): Promise<unknown> | undefined {
    return this.#leaving.get(serverKey);
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
    const started = child.start();
    started.catch(() => this.#over(child));
    const stop = (): Promise<void> => this.#end(child);
    return { child, dedicated: { upstream: child, started, ended: ended.promise, stop } };
  }

  /** Ends a server that gets no new calls, once those in flight are answered or have had their time. */
  async #drain(child: UpstreamServer, what: string): Promise<void> {
    const deadline = performance.now() + DRAIN_MS;
    while (child.usage.isAwaited && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    await child.retire(what)?.stop();
    this.#over(child);
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
