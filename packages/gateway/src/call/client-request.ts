import type { RpcError } from '../errors.ts';
import { Meta, type Envelope, type Era } from '../protocol/eras.ts';
import type { Instance } from '../upstream/pool/instances.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { answerError } from '../wire/answer.ts';
import { valueText } from '../wire/json/members.ts';
import type { Message } from '../wire/message.ts';
import type { Cancellable, Origin, Recipient } from '../wire/peer.ts';
import type { Addressing } from './addressing.ts';
import type { Invocation } from './history/invocation-record.ts';
import type { InvocationSource } from './history/invocation.ts';
import { recordCancelled, recordRefusal } from './history/record-call.ts';
import type { Resend } from './relay.ts';
import type { Target } from './resolve.ts';
import type { CallServices, GatewaySnapshot } from './snapshot.ts';
import type { Permit } from './stages/limits/permit.ts';

/** The client on whose behalf something is done, as one of its requests sees it. */
export interface Caller {
  /** The connection that sent the request and gets the response. */
  readonly origin: Origin;
  readonly era: Era;
  /** `clientInfo` and capabilities that the gateway sends to a modern server for a legacy client. */
  readonly envelope: Envelope;
  /** The same for all requests of one client. */
  readonly client: ClientHandle;
}

/** A client as the one whom servers ask. */
export interface ClientHandle {
  /** Key of the client. A `requestState` is bound to it, so that another client cannot use the state. */
  readonly identity: string;
  /** True where many programs may share one access token, so that nothing learned from one request applies to the next. */
  readonly isSharedToken: boolean;
  /** True where its handshake declared a capability for questions; modern clients declare capabilities with each request. */
  readonly canBeAsked: boolean;
  /** Returns true while it listens or waits for an answer; undefined where its front cannot tell. */
  isAttended?(): boolean | undefined;
  /** Its `clientInfo` as JSON, where it has said so once and for all. */
  readonly infoText?: string | undefined;
  /** Has declared in its handshake that it knows tasks; modern clients say it with each request. */
  readonly hasTasks?: boolean;
  /** Origin of its calls in the history; undefined for an MCP client. */
  readonly source?: InvocationSource;
  /** Folder that a modern client works in, once it has said so; null where none of its roots is on this machine. */
  folder?: string | null;
  /** Gets a notification of a server; `related` is the id of the request that it is about, where that is known. */
  notified(upstream: Upstream, message: Message, related?: number): void;
  /** Returns the recipient of a question; for a question about a call, the connection that the call came from. */
  recipient(origin?: Origin): Recipient;
}

/** One request of a client on its way to a server. Stages write down here what they have found out. */
export class ClientRequest {
  readonly caller: Caller;
  message: Message;
  /** The moment that it is resolved against. */
  snapshot: GatewaySnapshot;
  readonly services: CallServices;
  /** The member that names its target; undefined for a method that the gateway does not know. */
  addressing: Addressing | undefined;
  /** Undefined until its name is resolved. */
  target: Target | undefined;
  /** The folder in which the client works, where the client has said so with this very request. */
  folder: string | undefined;
  hasFolder = false;
  permit: Permit | undefined;
  /** The instance that serves it, where that had to be acquired. */
  instance: Instance | undefined;
  /** Its history record; requests other than tool calls have none. */
  invocation: Invocation | undefined;
  resend: Resend | undefined;
  /** Number of earlier attempts. */
  attempt = 0;
  /** Changed lists were read for it already. */
  hasReadLists = false;

  constructor(snapshot: GatewaySnapshot, caller: Caller, message: Message) {
    this.snapshot = snapshot;
    this.services = snapshot.services;
    this.caller = caller;
    this.message = message;
  }

  /** Waits for `promise`. The client may cancel the request meanwhile; a value that comes later is `unwanted`. */
  wait<T>(
    promise: Promise<T>,
    next: (value: T) => void,
    { failed, unwanted }: { failed?: (error: Error) => void; unwanted?: (value: T) => void } = {},
  ): void {
    const wait = new RequestWait(this);
    void promise.then(
      (value) => (wait.end() ? next(value) : unwanted?.(value)),
      (error: unknown) => void (wait.end() && failed?.(error as Error)),
    );
  }

  /** Answers with an error of the gateway's own. */
  refuse(error: RpcError): void {
    this.permit?.over();
    recordRefusal(this, error);
    answerError(this.caller.origin, this.message.id, error);
  }
}

/** A request that waits for something other than its server, until `end`. Its client may cancel it there. */
export class RequestWait implements Cancellable {
  readonly #request: ClientRequest;
  readonly #cancelled: (() => void) | undefined;
  readonly #ticket: number;
  #isOver = false;

  constructor(request: ClientRequest, cancelled?: () => void) {
    this.#request = request;
    this.#cancelled = cancelled;
    this.#ticket = request.caller.origin.track(this);
  }

  get id(): string {
    return this.#request.message.id;
  }

  get bytes(): number {
    return this.#request.message.bytes.length;
  }

  cancel(): void {
    if (!this.end()) return;
    this.#cancelled?.();
    this.#request.permit?.over();
    recordCancelled(this.#request);
  }

  abandon(): void {
    this.cancel();
  }

  /** Returns false where the request was cancelled before. */
  end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#request.caller.origin.untrack(this.#ticket);
    return true;
  }
}

/** Returns the client's capabilities as JSON: a modern client sends them with each request, a legacy one in its handshake. */
export function capabilitiesOf({ era, envelope }: Caller, request: Message | undefined): string {
  if (era === 'legacy') return envelope.capabilities;
  return (request?.meta && valueText(request.meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
}
