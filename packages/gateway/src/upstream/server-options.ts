import type { ServerConfig } from '../config/config.generated.ts';
import type { Log } from '../log.ts';
import type { Era, Implementation } from '../protocol/eras.ts';
import type { EraCache } from '../state/era-cache.ts';
import type { StartClock } from '../time/start-clock.ts';
import type { Accounts } from '../wire/account.ts';
import type { Message } from '../wire/message.ts';
import type { Catalogue, Kind, Listing } from './catalogue/catalogue.ts';
import type { Containers } from './container/containers.ts';
import type { Chain } from './gateway-chain.ts';
import type { Guard } from './process/guard.ts';
import type { Slots } from './process/start-slots.ts';
import type { UpstreamServer } from './server.ts';
import type { ServerLogs } from './supervision/server-logs.ts';
import type { Upstream } from './upstream.ts';

/** What all children of a gateway share. */
export interface ServerOptions {
  readonly guard: () => Guard;
  /** What servers in containers share; loaded with the first of them. */
  readonly containers: () => Promise<Containers>;
  /** Handed on to every server that may be a gateway. */
  readonly chain: Chain;
  readonly slots: Slots;
  /** Measures all starts of this gateway. */
  readonly startClock: StartClock;
  readonly eraCache: EraCache;
  readonly clientInfo: Implementation;
  /** What the client can do, as JSON; known once it has opened the conversation. */
  readonly capabilities: Promise<string>;
  readonly startupTimeout?: number;
  readonly maxMessageSize: number;
  readonly accounts: Accounts;
  readonly environmentOf: (config: ServerConfig) => Record<string, string>;
  readonly log: Log;
  /** The last words of and about each server. */
  readonly logs: ServerLogs;
  readonly on: ServerEvents;
  /** How the server is greeted, where that is not to be found out. */
  readonly era?: Era | undefined;
  readonly isEraFixed?: boolean | undefined;
  /** Era for a local server that speaks both, where it is decided; undefined until the first client uses the server. */
  readonly chosenEra?: ((serverKey: string) => Era | undefined) | undefined;
  /** What the server listed before this start, as far as that is known: the order of its lists stays. */
  readonly earlierLists?: ((serverKey: string) => Catalogue | undefined) | undefined;
  /** The working directory is the client's, not that of the config. */
  readonly isClientFolder?: boolean | undefined;
}

export interface ServerEvents {
  /** Works through a new list of a server in slices before it takes effect; undefined where it is short. */
  prepare?(child: UpstreamServer, kind: Kind, listing: Listing): Promise<void> | undefined;
  changed(child: UpstreamServer, kinds: readonly Kind[]): void;
  request(child: UpstreamServer, message: Message, related?: number): void;
  notification(child: UpstreamServer, message: Message, related?: number): void;
  /** It ran, and runs no more. */
  crashed(child: UpstreamServer): void;
  /** A client wants to hear from it. */
  isFollowed?(server: Pick<Upstream, 'serverKey'>): boolean;
}
