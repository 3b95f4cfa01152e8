import type { GatewaySnapshot } from '../call/snapshot.ts';
import type { Group } from '../registry/group.ts';
import type { Registry } from '../registry/registry.ts';
import type { OwnServer } from './own-server.ts';

/**
 * The servers and tools that sessions see: all that is offered, or the part of one group. A session keeps its view, and the gateway puts each new
 * registry into it, so that a request costs the same with and without groups.
 */
export class View {
  /** The gateway's own server: its status tool and instructions speak of the servers in this view alone. */
  readonly own: OwnServer;
  /** The part that is seen; undefined for all. */
  group: Group | undefined;
  /** The configured servers alone. */
  servers: Registry;
  /** These, and the own server. */
  registry: Registry;
  /** Resolves requests in this view. */
  declare snapshot: GatewaySnapshot;
  /** Text for clients on how to use the servers. */
  instructions: string | undefined;
  /** False once the config has no such group any more: nothing is seen then. */
  isConfigured = true;

  constructor(group: Group | undefined, empty: Registry, createOwn: (view: View) => OwnServer) {
    this.group = group;
    this.servers = empty;
    this.registry = empty;
    this.own = createOwn(this);
  }

  /** Returns true for a server of which anything is seen. */
  readonly hasServer = (serverKey: string): boolean => this.group?.hasServer(serverKey) ?? true;

  /** Returns true for a server of which everything is seen. */
  isWhole(serverKey: string): boolean {
    return this.group?.isWhole(serverKey) ?? true;
  }
}
