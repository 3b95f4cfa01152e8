import type { Caller } from '../call/client-request.ts';
import type { RpcError } from '../errors.ts';
import type { Envelope, Era } from '../protocol/eras.ts';
import type { Account } from '../wire/account.ts';
import { notificationLine } from '../wire/answer.ts';
import { encode, type Line } from '../wire/json/splice.ts';
import type { Origin, Peer, Recipient, ResponseHandler } from '../wire/peer.ts';
import type { Session } from './session.ts';

/** A client as one of its requests sees it, where requests are answered apart from each other. */
export class RequestCaller implements Caller {
  readonly origin: Origin;
  readonly client: Session;

  constructor(client: Session, origin: Origin) {
    this.client = client;
    this.origin = origin;
  }

  get era(): Era {
    return this.client.era;
  }

  get envelope(): Envelope {
    return this.client.envelope;
  }
}

/** A client that is asked on the way that one of its requests came; its answer comes like any other. */
export class RequestRecipient implements Recipient {
  readonly #peer: Peer;
  readonly #origin: Origin;

  constructor(peer: Peer, origin: Origin) {
    this.#peer = peer;
    this.#origin = origin;
  }

  get gone(): RpcError | undefined {
    return this.#peer.gone ?? this.#origin.gone;
  }

  get account(): Account {
    return this.#origin.account;
  }

  get isBehind(): boolean {
    return this.#peer.isBehind;
  }

  onResponse(waiter: ResponseHandler): number {
    return this.#peer.onResponse(waiter);
  }

  forget(id: number): void {
    this.#peer.forget(id);
  }

  send(line: Line): void {
    this.#origin.send(line);
  }

  notify(method: string, params?: unknown): void {
    this.send(notificationLine(method, params === undefined ? undefined : encode(params)));
  }
}
