import type { RpcError } from '../errors.ts';
import { Meta, type Envelope, type Era } from '../protocol/eras.ts';
import type { Instance } from '../upstream/pool/instances.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { answerError } from '../wire/answer.ts';
import { valueText } from '../wire/json/members.ts';
import type { Message } from '../wire/message.ts';
import type { Cancellable, Origin, Recipient } from '../wire/peer.ts';
import type { Addressing } from './addressing.ts';
import type { Invocation } from './history/history.ts';
import type { InvocationSource } from './history/invocation.ts';
import { recordCancelled, recordRefusal } from './history/record-call.ts';
import type { Resend } from './relay.ts';
import type { Directory, Target } from './resolve.ts';
import type { Permit } from './stages/limits/permit.ts';

/** The client on whose behalf something is done, as one of its requests sees it. */
export interface Caller {
  /** Where the request came from. */
  readonly origin: Origin;
  readonly era: Era;
  /** What a modern server is told of a client that does not say it with every request. */
  readonly envelope: Envelope;
  /** The same for all requests of one client. */
  readonly client: ClientHandle;
}

/** A client as the one whom servers ask. */
export interface ClientHandle {
  /** Who may answer for it: a state that one client was given is of no use to another. */
  readonly identity: string;
  /** Whether it stands for many programs, which one token lets in: what one of them says and does is not the others'. */
  readonly isSharedToken: boolean;
  /** It has said, once and for all, that there is something it can be asked; modern clients say it with each request. */
  readonly canBeAsked: boolean;
  /** Returns true while it listens or waits for an answer; undefined where its front cannot tell. */
  isAttended?(): boolean | undefined;
  /** Its `clientInfo` as JSON, where it has said so once and for all. */
  readonly infoText?: string | undefined;
  /** Has declared in its handshake that it knows tasks; modern clients say it with each request. */
  readonly hasTasks?: boolean;
  /** What makes calls, where that is no client of the protocol. */
  readonly source?: InvocationSource;
  /** Where it works, once a modern client has said so; null where that is nowhere here. */
  folder?: string | null;
  /** A notification of a server's; `related` is the id of the request that it is about, where that is known. */
  notified(upstream: Upstream, message: Message, related?: number): void;
  /** Whom a question goes to; one about a call goes the way that the call came. */
  recipient(origin?: Origin): Recipient;
}

/** One request of a client on its way to a server. Stages write down here what they have found out. */
export class ClientRequest {
  readonly caller: Caller;
  message: Message;
  /** The moment that it is resolved against. */
  directory: Directory;
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

  constructor(directory: Directory, caller: Caller, message: Message) {
    this.directory = directory;
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

/** What the client can do, as JSON: a modern one says it with each request, the others once. */
export function capabilitiesOf({ era, envelope }: Caller, request: Message | undefined): string {
  if (era === 'legacy') return envelope.capabilities;
  return (request?.meta && valueText(request.meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
}
