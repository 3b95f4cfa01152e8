import { RpcError, RpcErrorCode } from '../../errors.ts';
import { now as uptime } from '../../time/clock.ts';
import type { Upstream } from '../../upstream/upstream.ts';

/** Questions that may be open at a time: servers that sample in parallel send about ten. */
const MOST_OPEN = 32;
/** Questions in the course of one call: agents on servers sample some dozens of times. */
const MOST_OF_CALL = 256;
/** Questions that belong to no call, in the time below: servers ask for roots at their start and when these change. */
const MOST_UNASKED = 32;
const WINDOW_MS = 60 * 1000;

/** A question, and whose it is. */
export interface Asking {
  readonly upstream: Upstream;
  /** The call that the question belongs to, or the client where there is no call. */
  readonly holder: object;
  readonly isOfCall: boolean;
  /** Bytes that are kept until the answer comes. */
  readonly bytes: number;
}

/** A question that is one too many. */
export class OverBudget extends RpcError {
  constructor(message: string) {
    super(RpcErrorCode.UNAVAILABLE, message);
  }
}

/** Questions of one server in the course of one call, or to one client. */
interface Spent {
  open: number;
  total: number;
  /** When the first of `total` was asked. */
  since: number;
}

/** Bounds what servers ask of clients: no client sees more questions than a person could mean to answer. */
export class QuestionBudget {
  readonly #now: () => number;
  readonly #spent = new WeakMap<object, Map<string, Spent>>();

  constructor(now: () => number = uptime) {
    this.#now = now;
  }

  /** Counts a question. Returns what is to be called once it is over, or why the client is not asked. */
  open({ upstream, holder, isOfCall, bytes }: Asking): (() => void) | OverBudget {
    const { serverKey, peer } = upstream;
    const spent = this.#of(holder, serverKey);
    if (!isOfCall && this.#now() - spent.since >= WINDOW_MS)
      Object.assign(spent, { total: 0, since: this.#now() });
    if (spent.open >= MOST_OPEN)
      return new OverBudget(
        `The client already has ${MOST_OPEN} open questions, the maximum; ask again when it has answered some`,
      );
    if (isOfCall && spent.total >= MOST_OF_CALL)
      return new OverBudget(
        `The server has asked the client ${MOST_OF_CALL} times during this call, the maximum`,
      );
    if (!isOfCall && spent.total >= MOST_UNASKED)
      return new OverBudget(
        `The server has asked the client ${MOST_UNASKED} times in a minute without a running call, the maximum; ask again later, or during a call`,
      );
    spent.open++;
    spent.total++;
    peer.account.charge(bytes);
    return () => {
      spent.open--;
      peer.account.release(bytes);
    };
  }

  #of(holder: object, serverKey: string): Spent {
    const byServer = this.#spent.get(holder) ?? new Map<string, Spent>();
    const spent = byServer.get(serverKey) ?? { open: 0, total: 0, since: this.#now() };
    this.#spent.set(holder, byServer.set(serverKey, spent));
    return spent;
  }
}
