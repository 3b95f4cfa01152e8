import type { Envelope, Era } from '../wire/era.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import type { Directory } from './resolve.ts';

/** The client on whose behalf something is done. */
export interface Caller {
  readonly peer: Peer;
  readonly era: Era;
  /** What a modern server is told of a client that does not say it with every request. */
  readonly envelope: Envelope;
}

/** A client's request, and what it is resolved against. */
export interface Asked {
  readonly directory: Directory;
  readonly caller: Caller;
  readonly message: Message;
}
