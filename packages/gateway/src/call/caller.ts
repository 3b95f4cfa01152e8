import type { Envelope, Era } from '../wire/era.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Recipient } from '../wire/peer.ts';
import type { Directory } from './resolve.ts';

/** The client on whose behalf something is done, as one of its requests sees it. */
export interface Caller {
  /** Where the request came from. */
  readonly origin: Origin;
  readonly era: Era;
  /** What a modern server is told of a client that does not say it with every request. */
  readonly envelope: Envelope;
  /** The same for all requests of one client. */
  readonly client: AskedClient;
}

/** A client as the one whom servers ask. */
export interface AskedClient {
  /** Who may answer for it: a state that one client was given is of no use to another. */
  readonly identity: string;
  /** Whom a question goes to; one about a call goes the way that the call came. */
  recipient(origin?: Origin): Recipient;
}

/** A client's request, and what it is resolved against. */
export interface Asked {
  readonly directory: Directory;
  readonly caller: Caller;
  readonly message: Message;
}
