import { metaEdits } from '../bridge/requests.ts';
import { answerEdits } from '../bridge/results.ts';
import { canEndInRound, readRound } from '../bridge/rounds.ts';
import { now } from '../clock.ts';
import { RpcError } from '../errors.ts';
import type { RegistryBuilder } from '../registry/registry.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { Meta } from '../wire/era.ts';
import { findMember, stringValue, type Members } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Peer } from '../wire/peer.ts';
import { decode, replaceValue, type Edit } from '../wire/splice.ts';
import type { Asked, Caller } from './caller.ts';
import { TAKEN, type Hop, type Outcome, type Relayed } from './relay.ts';
import type { Directory, Target } from './resolve.ts';
import { Rounds } from './rounds.ts';
import { uriEdits } from './uri-edits.ts';

/** The member of a request that says where it goes. */
export interface Address {
  readonly holder: (message: Message) => Members | undefined;
  readonly key: 'name' | 'uri';
}

/** The hop from a client to one server, and back. It keeps no registry, and the request only where it may be needed again: a call may take long. */
export class Passage implements Hop {
  readonly from: Origin;
  readonly to: Peer;
  readonly caller: Caller;
  readonly request: Message | undefined;
  readonly logLevel: string | undefined;
  readonly #upstream: Upstream;
  readonly #builder: RegistryBuilder;
  readonly #trace: Directory['trace'];
  readonly #method: string;
  readonly #address: Address | undefined;
  /** What the server calls it, as JSON. */
  readonly #name: string;
  /** What the client calls the resource that it asks for, and what its server does. */
  readonly #renamed: { readonly uri: string; readonly publicUri: string } | undefined;
  readonly #began: number;
  #rounds: Rounds | undefined;

  constructor(
    { caller, directory, message }: Asked,
    { client, publicUri, originalText }: Target,
    address?: Address,
  ) {
    this.from = caller.origin;
    this.to = client.peer;
    this.caller = caller;
    this.logLevel = caller.era === 'modern' && message.meta ? stringValue(message.meta, Meta.LOG_LEVEL) : undefined;
    this.request = caller.era !== client.era && canEndInRound(message.method) ? message : undefined;
    this.#upstream = client;
    this.#builder = directory.builder;
    this.#trace = directory.trace;
    this.#method = message.method;
    this.#address = address;
    this.#name = originalText;
    this.#renamed = publicUri === undefined ? undefined : { uri: decode(originalText), publicUri };
    this.#began = directory.trace === undefined ? 0 : now();
  }

  get name(): string {
    return `Server '${this.#upstream.serverKey}'`;
  }

  edits(message: Message, token: number | undefined): Edit[] {
    const edits = metaEdits(message, { from: this.caller, to: this.#upstream }, token);
    const holder = this.#address?.holder(message);
    if (holder !== undefined && this.#address !== undefined)
      edits.push(replaceValue(holder, findMember(holder, this.#address.key), this.#name));
    return edits;
  }

  adapt(answer: Message, call: Relayed): Edit[] | RpcError | typeof TAKEN | undefined {
    const { era, serverKey } = this.#upstream;
    const renamesUris = this.#renamed !== undefined || this.#builder.sharesUris(serverKey);
    if (era === this.caller.era && !renamesUris) return undefined;
    if (this.#asksBack(answer, call)) return TAKEN;
    const edits = answerEdits(answer, this.#method, { from: era, to: this.caller.era });
    if (edits instanceof RpcError || !renamesUris) return edits;
    return [...edits, ...uriEdits(answer, (uri) => this.#publicUri(uri))];
  }

  calledOff(): void {
    this.#rounds?.stop();
  }

  /** True where a modern server's answer is a question, and the client is asked in its own way. */
  #asksBack(answer: Message, call: Relayed): boolean {
    if (this.request === undefined || this.caller.era === 'modern') return false;
    const round = readRound(answer);
    if (round === undefined) return false;
    this.#rounds ??= new Rounds(this.request, this.caller);
    this.#rounds.next(round, call);
    return true;
  }

  #publicUri(uri: string): string | undefined {
    if (this.#renamed?.uri === uri) return this.#renamed.publicUri;
    return this.#builder.sharedUri(this.#upstream.serverKey, uri);
  }

  ended(outcome: Outcome): void {
    if (this.#trace === undefined) return;
    const name = Buffer.from(this.#name, 'latin1').toString('utf8');
    const milliseconds = (now() - this.#began).toFixed(1);
    const where = `on '${this.#upstream.serverKey}'`;
    this.#trace(`${`${this.#method} ${name}`.trimEnd()} ${where}: ${outcome} after ${milliseconds} ms`);
  }
}
