import { now as uptime } from '../../time/clock.ts';

/** Content of a `requestState`: readable by the client, but signed, so that no client can forge one. */
export interface SignedClaim {
  /** Of the call that waits here; 0 where none does, and the call is made anew. */
  readonly number: number;
  readonly round: number;
  /** Of the request that it was given out for. */
  readonly fingerprint: string;
}

/** Time that a client has to repeat the call with its answers. */
export const ROUND_TIMEOUT_MS: number = 10 * 60 * 1000;

const KEY_BYTES = 32;
const STATE = /^(weir1\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([\w-]{43}))\.([\w-]{43})$/;

/** Loaded when it is first needed: most gateways never are asked anything. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** Signs the states that clients carry to and fro. The key is of this process: after a restart there is nothing to return to. */
export class RequestStates {
  readonly #now: () => number;
  #key: Buffer | undefined;

  constructor(now: () => number = uptime) {
    this.#now = now;
  }

  /** A state for the client of this identity, good for a while. */
  sign({ number, round, fingerprint }: SignedClaim, identity: string): string {
    const expires = Math.ceil(this.#now() + ROUND_TIMEOUT_MS);
    const open = `weir1.${number}.${round}.${expires}.${fingerprint}`;
    return `${open}.${this.#mac(open, identity)}`;
  }

  /** Returns the claim of a state; undefined where the state is forged, expired, or another client's. */
  read(state: string, identity: string): SignedClaim | undefined {
    const [, open, number, round, expires, fingerprint, mac] = STATE.exec(state) ?? [];
    if (open === undefined || fingerprint === undefined || mac === undefined) return undefined;
    const [given, expected] = [Buffer.from(mac), Buffer.from(this.#mac(open, identity))];
    const isGenuine = crypto().timingSafeEqual(given, expected);
    if (!isGenuine || Number(expires) <= this.#now()) return undefined;
    return { number: Number(number), round: Number(round), fingerprint };
  }

  #mac(open: string, identity: string): string {
    this.#key ??= crypto().randomBytes(KEY_BYTES);
    const text = JSON.stringify([open, identity]);
    return crypto().createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}
