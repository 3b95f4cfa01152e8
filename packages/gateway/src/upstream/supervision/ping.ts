import { Method } from '../../protocol/methods.ts';
import { requestLine } from '../../wire/answer.ts';
import type { Peer } from '../../wire/peer.ts';
import { reasonOf } from '../unavailable.ts';

export interface PingEvents {
  readonly answered: () => void;
  readonly failed: (reason: string) => void;
}

/** Asks a server something that every one of its era can answer; returns what gives that up. */
export function ping(peer: Peer, meta: Promise<string>, { answered, failed }: PingEvents): () => void {
  const id = peer.onResponse({
    isOwn: true,
    answered,
    progressed() {},
    lost: (error) => failed(reasonOf(error)),
  });
  // The modern era has no ping, but wants something with every request.
  void meta.then((members) =>
    peer.send(
      members === ''
        ? requestLine(id, Method.PING, '{}')
        : requestLine(id, Method.DISCOVER, `{"_meta":{${members}}}`),
    ),
  );
  return () => {
    peer.forget(id);
    peer.notify(Method.CANCELLED, { requestId: id });
  };
}
