import type { Addressee } from '../call/addressee.ts';
import type { ClientHandle, Caller } from '../call/client-request.ts';
import type { ListName } from '../call/list-change-notifier.ts';
import type { Log } from '../log.ts';
import type { Era } from '../protocol/eras.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Message } from '../wire/message.ts';
import { spend, workOff } from '../wire/slices.ts';
import type { View } from './view.ts';

/** A client of the gateway, as the servers' news reach it. */
export interface Client extends Caller, ClientHandle {
  /** The servers and tools that it sees. */
  readonly view: View;
  listsChanged(lists: ReadonlySet<ListName>): void;
  /** A server has been started again, and knows nothing of what its last start was asked to tell. */
  returned(upstream: Upstream): void;
  /** Returns true where it follows a resource or task of this server. */
  follows?(upstream: Pick<Upstream, 'serverKey'>): boolean;
  /** Shows a text to its user, where its era has a notification for that. */
  alert(text: string): void;
  /** The least level of logs that it has asked for, once and for all. */
  readonly logLevel: string | undefined;
  /** No other client will come beside it. */
  readonly isOnlyClient: boolean;
  /** True once its era is known. */
  readonly hasSpoken: boolean;
}

/** The side that clients are on. */
export interface Front {
  readonly clients: ReadonlySet<Client>;
  attach(client: Client): void;
  detach(client: Client): void;
}

/** All connected clients. Sends them notifications of servers and of the gateway. */
export class ConnectedClients implements Front {
  readonly clients: Set<Client> = new Set();
  readonly #log: Log;
  readonly #left: (client: Client) => void;

  constructor(log: Log, left: (client: Client) => void) {
    this.#log = log;
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

  /** Returns true where one of them has this view. */
  see(view: View): boolean {
    return [...this.clients].some((client) => client.view === view);
  }

  /** The one of this identity, while it is there. */
  known(identity: string): Client | undefined {
    return [...this.clients].find((client) => client.identity === identity);
  }

  /** Era of a client that stays the only one, once it has spoken: its servers use that era from their start. */
  get onlyEra(): Era | undefined {
    const [client] = this.clients;
    return client?.isOnlyClient === true && client.hasSpoken ? client.era : undefined;
  }

  /** Returns true where one of them follows a resource or task of this server. */
  follow(upstream: Pick<Upstream, 'serverKey'>): boolean {
    return [...this.clients].some((client) => client.follows?.(upstream) === true);
  }

  /** Sends a notification of a server to the clients that may get it; returns false where none may. */
  notified(upstream: Upstream, message: Message, related: number | undefined, to: Addressee): boolean {
    const owner = typeof to === 'string' ? undefined : this.known(to.identity);
    if (owner !== undefined) owner.notified(upstream, message, related);
    // The only client gets every notification, because it cannot belong to another one.
    else if (to === 'all' || this.only?.isOnlyClient === true) {
      spend(this.clients.size, message.bytes.length);
      for (const client of this.clients) client.notified(upstream, message, related);
    } else return false;
    return true;
  }

  listsChanged(view: View, lists: ReadonlySet<ListName>): void {
    for (const client of this.clients) if (client.view === view) client.listsChanged(lists);
  }

  returned(upstream: Upstream): void {
    workOff('returned', [...this.clients], {
      each: (client) => client.returned(upstream),
      failed: (error) =>
        this.#log.error(`Cannot notify a client about server '${upstream.serverKey}': ${error.stack}`),
    });
  }

  /** Tells what has become of a server to the clients that see it. */
  alert(serverKey: string, text: string): void {
    for (const client of this.clients) if (client.view.hasServer(serverKey)) client.alert(text);
  }
}
