/** What a state says openly. */
export interface Claim {
  /** Of the call that waits here; 0 where none does, and the call is made anew. */
  readonly number: number;
  readonly round: number;
  readonly expires: number;
}

/** What it is bound to; only the signature tells. */
export interface Bond {
  readonly identity: string;
  readonly fingerprint: string;
}

const KEY_BYTES = 32;
const STATE = /^weir1\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.[\w-]{43}$/;

/** Loaded when it is first needed: most gateways never are asked anything. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** Signs the states that clients carry to and fro. The key is of this process: after a restart there is nothing to return to. */
export class RequestStates {
  #key: Buffer | undefined;

  sign({ number, round, expires }: Claim, bond: Bond): string {
    const open = `weir1.${number}.${round}.${expires}`;
    return `${open}.${this.#mac(open, bond).toString('base64url')}`;
  }

  /** What a state claims; undefined where it is none of ours. */
  read(state: string): Claim | undefined {
    const [, number, round, expires] = STATE.exec(state) ?? [];
    return number === undefined
      ? undefined
      : { number: Number(number), round: Number(round), expires: Number(expires) };
  }

  isGenuine(state: string, claim: Claim, bond: Bond): boolean {
    const expected = Buffer.from(this.sign(claim, bond));
    const given = Buffer.from(state);
    return expected.length === given.length && crypto().timingSafeEqual(expected, given);
  }

  #mac(open: string, { identity, fingerprint }: Bond): Buffer {
    this.#key ??= crypto().randomBytes(KEY_BYTES);
    return crypto()
      .createHmac('sha256', this.#key)
      .update(JSON.stringify([open, identity, fingerprint]))
      .digest();
  }
}
