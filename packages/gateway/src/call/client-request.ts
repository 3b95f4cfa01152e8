import { Meta, type Envelope, type Era } from '../protocol/eras.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { valueText } from '../wire/json/members.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Recipient } from '../wire/peer.ts';
import type { Invocation } from './history/history.ts';
import type { InvocationSource } from './history/invocation.ts';
import type { Directory } from './resolve.ts';
import type { Permit } from './stages/permit.ts';

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

/** A client's request, and what it is resolved against. */
export interface ClientRequest {
  readonly directory: Directory;
  readonly caller: Caller;
  readonly message: Message;
  /** Where the client works, if it has said so with this very request. */
  readonly folder?: string | undefined;
  /** What it is under way with, where calls are limited. */
  readonly permit?: Permit | undefined;
  /** Lists that servers had announced a change of were read for it. */
  readonly isNewsRead?: boolean;
  /** How often it was made before. */
  readonly attempt?: number;
  /** The call for the history, where it was noted before it was sent. */
  readonly invocation?: Invocation | undefined;
}

/** What the client can do, as JSON: a modern one says it with each request, the others once. */
export function capabilitiesOf({ era, envelope }: Caller, request: Message | undefined): string {
  if (era === 'legacy') return envelope.capabilities;
  return (request?.meta && valueText(request.meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
}
