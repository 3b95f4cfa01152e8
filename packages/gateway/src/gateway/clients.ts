import type { AskedClient, Caller } from '../call/caller.ts';
import type { ListName } from '../call/notices.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Message } from '../wire/message.ts';

/** A client of the gateway, as the servers' news reach it. */
export interface Client extends Caller, AskedClient {
  listsChanged(lists: ReadonlySet<ListName>): void;
  /** A server has been started again, and knows nothing of what its last start was asked to tell. */
  returned(upstream: Upstream): void;
  /** It has subscribed to a resource of this server, in the way of the earlier revisions. */
  follows?(upstream: Upstream): boolean;
  /** Something that the person behind it should know, where its revision has a way to say that unasked. */
  alert(text: string): void;
  /** The least level of logs that it has asked for, once and for all. */
  readonly logLevel: string | undefined;
  /** No other client will come beside it. */
  readonly isAlone: boolean;
}

/** The side that clients are on. */
export interface Front {
  readonly clients: ReadonlySet<Client>;
  attach(client: Client): void;
  detach(client: Client): void;
}

/** All clients there are, as servers and the gateway see them: somebody to tell things. */
export class Clients implements Front {
  readonly clients: Set<Client> = new Set();
  readonly #left: (client: Client) => void;

  constructor(left: (client: Client) => void) {
    this.#left = left;
  }

  attach(client: Client): void {
    this.clients.add(client);
  }

  detach(client: Client): void {
    this.clients.delete(client);
    this.#left(client);
  }

  /** The one there is, where there is no other. */
  get only(): Client | undefined {
    const [client, ...others] = this.clients;
    return others.length === 0 ? client : undefined;
  }

  /** A server of both ways that only one client will ever use may as well be greeted in that client's. */
  get preferLegacy(): boolean {
    const [client] = this.clients;
    return client?.isAlone === true && client.era === 'legacy' && client.canBeAsked;
  }

  /** One of them has subscribed to a resource of this server. */
  follow(upstream: Upstream): boolean {
    return [...this.clients].some((client) => client.follows?.(upstream) === true);
  }

  notified(upstream: Upstream, message: Message, related: number | undefined): void {
    for (const client of this.clients) client.notified(upstream, message, related);
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    for (const client of this.clients) client.listsChanged(lists);
  }

  returned(upstream: Upstream): void {
    for (const client of this.clients) client.returned(upstream);
  }

  alert(text: string): void {
    for (const client of this.clients) client.alert(text);
  }
}
