import type { CallServices } from '../call/snapshot.ts';
import type { Log } from '../log.ts';
import type { Implementation } from '../protocol/eras.ts';
import type { RegistryBuilder } from '../registry/registry-builder.ts';
import type { Chain } from '../upstream/gateway-chain.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Accounts } from '../wire/account.ts';
import type { Line } from '../wire/json/splice.ts';
import type { Client, Front } from './clients.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { View } from './view.ts';
import type { Parts } from './wiring.ts';

/** Services of a gateway that fronts use for their clients. */
export class FrontServices {
  readonly lifecycle: Lifecycle;
  readonly clients: Front;
  readonly log: Log;
  /** Counts the bytes that are held for each client and server. */
  readonly accounts: Accounts;
  readonly maxMessageSize: number;
  /** Name and version that servers get in the handshake. */
  readonly clientInfo: Implementation;
  /** The gateways that this one stands behind, and itself. */
  readonly chain: Chain;
  /** Names and URIs of all servers. */
  readonly builder: RegistryBuilder;
  readonly calls: CallServices;
  readonly #parts: Parts;

  constructor(parts: Parts, lifecycle: Lifecycle) {
    const { accounts, chain, clientInfo, log, maxMessageSize } = parts.options;
    this.#parts = parts;
    this.lifecycle = lifecycle;
    this.clients = parts.clients;
    this.log = log;
    this.accounts = accounts;
    this.maxMessageSize = maxMessageSize;
    this.clientInfo = clientInfo;
    this.chain = chain;
    this.builder = parts.publication.builder;
    this.calls = parts.services;
  }

  /** Number of servers that the config does not switch off. */
  get serverCount(): number {
    return this.#parts.fleet.servers.byKey.size;
  }

  /** Returns the view of a group, or that of all; undefined where the config has no such group. */
  findView(group?: string): View | undefined {
    return this.#parts.publication.findView(group);
  }

  /** Returns the view of a group, or that of all; throws a `ConfigError` where the config has no such group. */
  view(group?: string): View {
    return this.#parts.publication.view(group);
  }

  /** Sends a client's notification to all servers of its era, but to none that is slow to read. */
  tellServers(client: Client, line: () => Line): void {
    for (const upstream of this.#audienceOf(client))
      if (upstream.era === client.era && !upstream.peer.isSlow) upstream.peer.send(line());
  }

  /** Pauses the servers while a client does not read. */
  holdServers(hold: boolean): void {
    this.#parts.backPressure.apply(hold);
  }

  /** Sets the most verbose level that any client asked for on all servers. */
  logLevelChanged(): void {
    this.#parts.logLevelSync.update();
  }

  /** Returns all connections to servers that this client sees. */
  #audienceOf(client: Client): Upstream[] {
    const { pool } = this.#parts;
    const { view } = client;
    return [
      ...view.registry.upstreams.values(),
      ...pool.legacyConnections.filter(({ serverKey }) => view.hasServer(serverKey)),
      ...pool.ownOf(client),
    ];
  }
}
