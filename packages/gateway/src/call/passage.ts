import { metaEdits } from '../bridge/requests.ts';
import { answerEdits } from '../bridge/results.ts';
import { now } from '../clock.ts';
import { RpcError } from '../errors.ts';
import type { RegistryBuilder } from '../registry/registry.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import { decode, type Edit } from '../wire/splice.ts';
import type { Asked, Caller } from './caller.ts';
import type { Hop, Outcome } from './relay.ts';
import type { Directory, Target } from './resolve.ts';
import { uriEdits } from './uri-edits.ts';

/** The hop from a client to one server, and back. It keeps neither the request nor the registry: a call may take long. */
export class Passage implements Hop {
  readonly from: Peer;
  readonly to: Peer;
  readonly #caller: Caller;
  readonly #upstream: Upstream;
  readonly #builder: RegistryBuilder;
  readonly #trace: Directory['trace'];
  readonly #method: string;
  readonly #edit: Edit | undefined;
  /** What the client calls the resource that it asks for, and what its server does. */
  readonly #renamed: { readonly uri: string; readonly publicUri: string } | undefined;
  readonly #began: number;

  constructor(
    { caller, directory, message }: Asked,
    { client, publicUri, originalText }: Target,
    edit?: Edit,
  ) {
    this.from = caller.peer;
    this.to = client.peer;
    this.#caller = caller;
    this.#upstream = client;
    this.#builder = directory.builder;
    this.#trace = directory.trace;
    this.#method = message.method;
    this.#edit = edit;
    this.#renamed = publicUri === undefined ? undefined : { uri: decode(originalText), publicUri };
    this.#began = directory.trace === undefined ? 0 : now();
  }

  get name(): string {
    return `Server '${this.#upstream.serverKey}'`;
  }

  edits(message: Message, token: number | undefined): Edit[] {
    const edits = metaEdits(message, { from: this.#caller, to: this.#upstream }, token);
    if (this.#edit !== undefined) edits.push(this.#edit);
    return edits;
  }

  adapt(answer: Message): Edit[] | RpcError | undefined {
    const { era, serverKey } = this.#upstream;
    const renamesUris = this.#renamed !== undefined || this.#builder.sharesUris(serverKey);
    if (era === this.#caller.era && !renamesUris) return undefined;
    const edits = answerEdits(answer, this.#method, { from: era, to: this.#caller.era });
    if (edits instanceof RpcError || !renamesUris) return edits;
    return [...edits, ...uriEdits(answer, (uri) => this.#publicUri(uri))];
  }

  #publicUri(uri: string): string | undefined {
    if (this.#renamed?.uri === uri) return this.#renamed.publicUri;
    return this.#builder.sharedUri(this.#upstream.serverKey, uri);
  }

  ended(outcome: Outcome): void {
    if (this.#trace === undefined) return;
    const name = Buffer.from(this.#edit?.text ?? '', 'latin1').toString('utf8');
    const milliseconds = (now() - this.#began).toFixed(1);
    const where = `on '${this.#upstream.serverKey}'`;
    this.#trace(`${`${this.#method} ${name}`.trimEnd()} ${where}: ${outcome} after ${milliseconds} ms`);
  }
}
