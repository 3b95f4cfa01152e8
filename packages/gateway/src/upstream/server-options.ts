import type { ChildServerError } from '../errors.ts';
import type { Era } from '../protocol/eras.ts';
import type { Message } from '../wire/message.ts';
import type { Catalogue, Kind, Listing } from './catalogue/catalogue.ts';
import type { ServerContext } from './server-context.ts';
import type { UpstreamServer } from './server.ts';
import type { Upstream } from './upstream.ts';

export interface ServerOptions {
  /** Guard, start slots, logs and limits that all servers of a gateway share. */
  readonly context: ServerContext;
  readonly on: ServerEvents;
  /** Capabilities of the client, as JSON; resolves once the client has opened its conversation. */
  readonly capabilities: Promise<string>;
  /** Era that is tried first, where it need not be found out. */
  readonly era?: Era | undefined;
  /** True where no other era than that is tried. */
  readonly isEraFixed?: boolean | undefined;
  /** Returns the era for a local server that speaks both; undefined until the first client uses the server. */
  readonly chosenEra?: ((serverKey: string) => Era | undefined) | undefined;
  /** Returns the lists of an earlier start: the order of entries stays. */
  readonly earlierLists?: ((serverKey: string) => Catalogue | undefined) | undefined;
  /** True where the working directory is the client's, not that of the config. */
  readonly isClientFolder?: boolean | undefined;
}

/** Events of a server, all of which go to its fleet, or to the pool where one client or call has it for itself. */
export interface ServerEvents {
  /** Works through a new list in slices before it takes effect; returns undefined where the list is short. */
  prepare?(server: UpstreamServer, kind: Kind, listing: Listing): Promise<void> | undefined;
  changed(server: UpstreamServer, kinds: readonly Kind[]): void;
  /** `related` is the id of the request that the message is about, where that is known. */
  request(server: UpstreamServer, message: Message, related?: number): void;
  notification(server: UpstreamServer, message: Message, related?: number): void;
  /** Hears that a running server was lost, and why. */
  crashed(server: UpstreamServer, error: ChildServerError): void;
  /** Returns true while a client wants to hear from the server. */
  isFollowed?(server: Pick<Upstream, 'serverKey'>): boolean;
}
