import type { Envelope, Era } from '../wire/era.ts';
import type { Peer } from '../wire/peer.ts';

/** The client on whose behalf something is done. */
export interface Caller {
  readonly peer: Peer;
  readonly era: Era;
  /** What a modern server is told of a client that does not say it with every request. */
  readonly envelope: Envelope;
}
