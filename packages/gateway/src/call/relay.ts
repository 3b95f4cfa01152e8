import { RpcError, RpcErrorCode } from '../errors.ts';
import { errorLine } from '../wire/answer.ts';
import { findMember, valueText } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { Peer, Served, Waiter } from '../wire/peer.ts';
import { replaceValue, splice, type Edit } from '../wire/splice.ts';

/** One hop of a request from one peer to another. */
export interface Hop {
  readonly from: Peer;
  readonly to: Peer;
  /** Who is asked, for errors. */
  readonly name: string;
  /** The edits that the request needs besides its id; `token` is the progress token of this hop, if one is wanted. */
  edits(message: Message, token: number | undefined): Edit[];
  /** The edits that the answer needs besides its id, or the error to give instead. */
  adapt?(answer: Message): Edit[] | RpcError | undefined;
  /** Told how the request ended. */
  ended?(outcome: Outcome): void;
}

export type Outcome = 'result' | 'error' | 'cancelled';

/** What may wait for a peer that has stopped reading. */
const LARGEST_BACKLOG = 16 * 1024 * 1024;

/** Sends a request on under an id of its own. The answer, progress and errors find their way back to who asked. */
export function relay(message: Message, hop: Hop): void {
  const refusal = hop.to.gone ?? (hop.to.backlog > LARGEST_BACKLOG ? notReading(hop.name) : undefined);
  if (refusal !== undefined) return hop.from.send(errorLine(message.id, refusal));
  new Relayed(message, hop).send(message);
}

function notReading(name: string): RpcError {
  return new RpcError(
    RpcErrorCode.UNAVAILABLE,
    `${name} has yet to read 16 MiB that wait for it. Send less at once or try again; if it has stopped reading, restart it.`,
  );
}

/** A request on its way, until it is answered, cancelled or lost. */
class Relayed implements Waiter, Served {
  readonly id: string;
  readonly #hop: Hop;
  readonly #ticket: number;
  readonly #token: string | undefined;
  readonly #sentId: number;

  constructor({ id, meta }: Message, hop: Hop) {
    this.#hop = hop;
    this.id = id;
    this.#token = meta && valueText(meta, 'progressToken');
    this.#sentId = hop.to.expect(this);
    this.#ticket = hop.from.serve(this);
  }

  send(message: Message): void {
    const { bytes, id, idAt } = message;
    const edits = this.#hop.edits(message, this.#token === undefined ? undefined : this.#sentId);
    edits.push({ start: idAt, end: idAt + id.length, text: String(this.#sentId) });
    this.#hop.to.send(splice(bytes, edits));
  }

  answered(answer: Message): void {
    const edits = this.#hop.adapt?.(answer) ?? [];
    if (edits instanceof RpcError) return this.lost(edits);
    this.#end(answer.isError ? 'error' : 'result');
    edits.push({ start: answer.idAt, end: answer.idAt + answer.id.length, text: this.id });
    this.#hop.from.send(splice(answer.bytes, edits));
  }

  progressed({ bytes, params }: Message): void {
    if (this.#token === undefined || params === undefined) return;
    const edit = replaceValue(params, findMember(params, 'progressToken'), this.#token);
    this.#hop.from.send(splice(bytes, [edit]));
  }

  lost(error: RpcError): void {
    this.#end('error');
    this.#hop.from.send(errorLine(this.id, error));
  }

  cancel({ bytes, params }: Message): void {
    this.#forget();
    if (params === undefined) return;
    const edit = replaceValue(params, findMember(params, 'requestId'), String(this.#sentId));
    this.#hop.to.send(splice(bytes, [edit]));
  }

  abandon(reason: string): void {
    this.#forget();
    this.#hop.to.notify('notifications/cancelled', { requestId: this.#sentId, reason });
  }

  #forget(): void {
    this.#hop.to.forget(this.#sentId);
    this.#end('cancelled');
  }

  #end(outcome: Outcome): void {
    this.#hop.from.served(this.#ticket);
    this.#hop.ended?.(outcome);
  }
}
