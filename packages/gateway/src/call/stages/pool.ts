import { ALL_CAPABILITIES } from '../../protocol/capabilities.ts';
import type { Fleet } from '../../upstream/fleet.ts';
import type { DedicatedEvents } from '../../upstream/pool/dedicated.ts';
import {
  Instances,
  type DedicatedServer,
  type Instance,
  type InstanceOptions,
} from '../../upstream/pool/instances.ts';
import { LegacyConnections } from '../../upstream/pool/legacy-connections.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { ClientHandle, Caller } from '../client-request.ts';
import { folderOf } from './roots-folder.ts';

export interface UpstreamPoolOptions {
  readonly fleet: Fleet;
  /** What servers say that clients share. */
  readonly on: DedicatedEvents;
  /** A server that a client has for itself asks something. */
  asked(client: ClientHandle, ...question: Parameters<DedicatedEvents['request']>): void;
  /** A second conversation is there. */
  opened(legacyConnection: Upstream): void;
  /** A server of a client's or call's own is there. */
  started(own: Upstream): void;
}

/** Who serves a caller: the server that all share, its twin, or one of the client's or the call's own. */
export class UpstreamPool {
  readonly #options: UpstreamPoolOptions;
  readonly #instances: Instances<ClientHandle>;
  readonly #legacyConnections = new LegacyConnections((server) => this.#openLegacyConnection(server));

  constructor(options: UpstreamPoolOptions) {
    const { fleet } = options;
    this.#options = options;
    this.#instances = new Instances((serverKey, client, instance) => {
      const dedicated = fleet.startDedicated(serverKey, instance, {
        request: (...question) => options.asked(client, ...question),
        notification: (child, message, related) => client.notified(child, message, related),
      });
      // Why it does not start is told to who waits for it.
      dedicated.started.then(
        () => options.started(dedicated.upstream),
        () => {},
      );
      return dedicated;
    });
  }

  /** Asked by every call: nothing but fields is looked at, unless the eras differ. */
  readonly needsAcquire = (upstream: Upstream, caller: Caller): boolean =>
    upstream.sharing !== 'shared' ||
    upstream.isLazy === true ||
    this.#mayHaveLegacyConnection(upstream, caller);

  /** A server of the client's or the call's own, told of this client alone; or the one that all share. */
  readonly acquire = (upstream: Upstream, caller: Caller, folder?: string): Promise<Instance> => {
    const { serverKey, sharing, isRemote = false } = upstream;
    const { client } = caller;
    if (sharing === 'shared') return this.#sharedOf(upstream, caller);
    const options = (): Promise<InstanceOptions> => instanceOptions(caller, upstream.cwdFromRoots, folder);
    if (sharing === 'per-call') return this.#instances.forCall(serverKey, client, options);
    const place = client.isSharedToken ? (folder ?? '') : '';
    return this.#instances.forSession({ serverKey, place, isRemote }, client, options);
  };

  /** The second conversations that there are. */
  get legacyConnections(): Upstream[] {
    return this.#legacyConnections.running;
  }

  /** The servers that run for this client alone. */
  ownOf(client: ClientHandle): Upstream[] {
    return this.#instances.of(client);
  }

  /** The client is gone, and with it what only it has used. */
  leave(client: ClientHandle): void {
    this.#instances.end(client);
  }

  /** The server is gone. */
  forget(server: Upstream): void {
    this.#legacyConnections.forget(server);
  }

  /** One more process is worth it only for clients that can be asked what a server asks in the old way alone. */
  #mayHaveLegacyConnection(upstream: Upstream, { era, client }: Caller): boolean {
    if (era !== 'legacy' || upstream.era !== 'modern' || upstream.isModernOnly === true) return false;
    return (upstream.isRemote === true || client.canBeAsked) && this.#legacyConnections.mayHave(upstream);
  }

  /** The one that all share, started where it does not run, or its twin. */
  async #sharedOf(upstream: Upstream, caller: Caller): Promise<Instance> {
    const { fleet } = this.#options;
    const running = upstream.isLazy === true ? await fleet.wake(upstream.serverKey) : upstream;
    const legacyConnection = this.#mayHaveLegacyConnection(running, caller)
      ? await this.#legacyConnections.of(running)
      : undefined;
    return { upstream: legacyConnection ?? running, release() {} };
  }

  async #openLegacyConnection(server: Upstream): Promise<DedicatedServer | undefined> {
    const { fleet, on } = this.#options;
    const legacyConnection = await fleet.openLegacyConnection(server, ALL_CAPABILITIES, on);
    if (legacyConnection !== undefined) this.#options.opened(legacyConnection.upstream);
    return legacyConnection;
  }
}

async function instanceOptions(
  caller: Caller,
  cwdFromRoots: boolean,
  folder: string | undefined,
): Promise<InstanceOptions> {
  return {
    // A modern client says with each call what it can do.
    capabilities: caller.era === 'modern' ? ALL_CAPABILITIES : caller.envelope.capabilities,
    cwd: cwdFromRoots ? (folder ?? (await folderOf(caller))) : undefined,
    era: caller.era === 'legacy' ? 'legacy' : undefined,
  };
}
