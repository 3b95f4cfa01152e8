import { metaEdits } from '../bridge/requests.ts';
import { answerEdits } from '../bridge/results.ts';
import { RpcError } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import type { Edit } from '../wire/splice.ts';
import type { Asked } from './caller.ts';
import type { Hop, Outcome } from './relay.ts';
import { uriEdits } from './uri-edits.ts';

/** The hop from a client to one server, and back. */
export class Passage implements Hop {
  readonly from: Peer;
  readonly to: Peer;
  readonly #asked: Asked;
  readonly #upstream: Upstream;
  readonly #edit: Edit | undefined;
  readonly #began: number;

  constructor(asked: Asked, upstream: Upstream, edit?: Edit) {
    this.from = asked.caller.peer;
    this.to = upstream.peer;
    this.#asked = asked;
    this.#upstream = upstream;
    this.#edit = edit;
    this.#began = asked.directory.trace === undefined ? 0 : performance.now();
  }

  get name(): string {
    return `Server '${this.#upstream.serverKey}'`;
  }

  edits(token: number | undefined): Edit[] {
    const { caller, message } = this.#asked;
    const edits = metaEdits(message, { from: caller, to: this.#upstream }, token);
    if (this.#edit !== undefined) edits.push(this.#edit);
    return edits;
  }

  adapt(answer: Message): Edit[] | RpcError | undefined {
    const { caller, directory, message } = this.#asked;
    const { era, serverKey } = this.#upstream;
    const sharesUris = directory.builder.sharesUris(serverKey);
    if (era === caller.era && !sharesUris) return undefined;
    const edits = answerEdits(answer, message.method, { from: era, to: caller.era });
    if (edits instanceof RpcError || !sharesUris) return edits;
    return [...edits, ...uriEdits(answer, (uri) => directory.builder.sharedUri(serverKey, uri))];
  }

  ended(outcome: Outcome): void {
    const { directory, message } = this.#asked;
    if (directory.trace === undefined) return;
    const name = Buffer.from(this.#edit?.text ?? '', 'latin1').toString();
    const what = `${message.method} ${name}`.trimEnd();
    const milliseconds = (performance.now() - this.#began).toFixed(1);
    directory.trace(`${what} on '${this.#upstream.serverKey}': ${outcome} after ${milliseconds} ms`);
  }
}
