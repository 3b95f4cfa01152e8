import { ALL_CAPABILITIES } from '../../protocol/capabilities.ts';
import type { Envelope, Era } from '../../protocol/eras.ts';
import type { Message } from '../../wire/message.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Upstream } from '../upstream.ts';
import type { DedicatedEvents } from './dedicated.ts';
import {
  Instances,
  type DedicatedServer,
  type Instance,
  type InstanceOptions,
  type InstanceOwner,
} from './instances.ts';
import { LegacyConnections } from './legacy-connections.ts';

/** A client that has servers of its own. */
interface PoolClient extends InstanceOwner {
  /** Origin of the calls of a program, which has no era; undefined for an MCP client. */
  readonly source?: string;
  notified(upstream: Upstream, message: Message, related?: number): void;
}

/** A request's client, as far as the choice of a server depends on it. */
export interface PoolCaller {
  readonly era: Era;
  readonly envelope: Envelope;
  readonly client: PoolClient;
}

export interface UpstreamPoolOptions<Caller extends PoolCaller> {
  readonly fleet: Pick<Fleet, 'use' | 'dedicated'>;
  /** Requests and notifications of servers that clients share. */
  readonly on: DedicatedEvents;
  /** Routes a request of a server that one client has for itself. */
  asked(client: Caller['client'], ...question: Parameters<DedicatedEvents['request']>): void;
  /** Hears of a new legacy session with a remote server. */
  opened(legacyConnection: Upstream): void;
  /** Hears of a server that was started for one client or call. */
  started(own: Upstream): void;
  /** Returns the folder in which a client works, where it has one. */
  folderOf(caller: Caller): Promise<string | undefined>;
}

/** Finds the server for a request: the shared one, started where it is lazy, or one of the client's or the call's own. */
export class UpstreamPool<Caller extends PoolCaller> {
  readonly #options: UpstreamPoolOptions<Caller>;
  readonly #instances: Instances<Caller['client']>;
  readonly #legacyConnections = new LegacyConnections((server) => this.#openLegacyConnection(server));

  constructor(options: UpstreamPoolOptions<Caller>) {
    const { fleet } = options;
    this.#options = options;
    this.#instances = new Instances((serverKey, client, instance) => {
      const dedicated = fleet.dedicated.start(serverKey, instance, {
        request: (...question) => options.asked(client, ...question),
        notification: (child, message, related) => client.notified(child, message, related),
      });
      // A failure reaches the call that waits for the server.
      dedicated.started.then(
        () => options.started(dedicated.upstream),
        () => {},
      );
      return dedicated;
    });
  }

  /** Returns false where a request can go to this server as it is. Runs for every call, so it looks at fields alone. */
  readonly needsAcquire = (upstream: Upstream, caller: Caller): boolean =>
    upstream.sharing !== 'shared' ||
    upstream.isPlaceholder === true ||
    upstream.isEraOpen === true ||
    this.#mayHaveLegacyConnection(upstream, caller);

  /** Returns the server for one request, which calls `release` when it is over. */
  readonly acquire = (upstream: Upstream, caller: Caller, folder?: string): Promise<Instance> => {
    const { serverKey, sharing, isRemote = false } = upstream;
    const { client } = caller;
    if (sharing === 'shared') return this.#acquireShared(upstream, caller);
    const options = (): Promise<InstanceOptions> => this.#instanceOptions(upstream, caller, folder);
    if (sharing === 'per-call') return this.#instances.forCall(serverKey, client, options);
    const place = client.isSharedToken ? (folder ?? '') : '';
    return this.#instances.forSession({ serverKey, place, isRemote }, client, options);
  };

  get legacyConnections(): Upstream[] {
    return this.#legacyConnections.running;
  }

  /** Returns the servers that run for this client alone. */
  ownOf(client: Caller['client']): Upstream[] {
    return this.#instances.of(client);
  }

  /** Ends the servers of a client that has left. */
  leave(client: Caller['client']): void {
    this.#instances.end(client);
  }

  /** Forgets a server that has ended. */
  forget(server: Upstream): void {
    this.#legacyConnections.forget(server);
  }

  async #acquireShared(upstream: Upstream, caller: Caller): Promise<Instance> {
    const { serverKey, isPlaceholder, isEraOpen } = upstream;
    const era = caller.client.source === undefined ? caller.era : undefined;
    const running =
      isPlaceholder === true || isEraOpen === true ? await this.#options.fleet.use(serverKey, era) : upstream;
    const legacyConnection = this.#mayHaveLegacyConnection(running, caller)
      ? await this.#legacyConnections.of(running)
      : undefined;
    return { upstream: legacyConnection ?? running, release() {} };
  }

  /** Returns true where legacy clients of a modern remote server get a session in their era: it costs no process. */
  #mayHaveLegacyConnection(upstream: Upstream, { era }: Caller): boolean {
    if (era !== 'legacy' || upstream.era !== 'modern' || upstream.isModernOnly === true) return false;
    return upstream.isRemote === true && this.#legacyConnections.mayHave(upstream);
  }

  async #openLegacyConnection(server: Upstream): Promise<DedicatedServer | undefined> {
    const { fleet, on } = this.#options;
    const legacyConnection = await fleet.dedicated.openLegacyConnection(server, ALL_CAPABILITIES, on);
    if (legacyConnection !== undefined) this.#options.opened(legacyConnection.upstream);
    return legacyConnection;
  }

  async #instanceOptions(
    { cwdFromRoots }: Upstream,
    caller: Caller,
    folder: string | undefined,
  ): Promise<InstanceOptions> {
    return {
      // A modern client says with each call what it can do.
      capabilities: caller.era === 'modern' ? ALL_CAPABILITIES : caller.envelope.capabilities,
      cwd: cwdFromRoots ? (folder ?? (await this.#options.folderOf(caller))) : undefined,
      era: caller.era === 'legacy' ? 'legacy' : undefined,
    };
  }
}
