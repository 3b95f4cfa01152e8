import type { Message } from '../wire/message.ts';

/** What a state says, openly, and what it is bound to, which only the signature tells. */
export interface Claim {
  readonly number: number;
  readonly round: number;
  readonly expires: number;
}

export interface Bound extends Claim {
  readonly identity: string;
  readonly fingerprint: string;
}

const KEY_BYTES = 32;
const STATE = /^weir1\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.[\w-]{43}$/;

/** Loaded when the first call is parked: most gateways never need it. */
const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto');

/** Signs the states that clients carry to and fro. The key is of this process: after a restart there is nothing to return to. */
export class RequestStates {
  #key: Buffer | undefined;

  sign(bound: Bound): string {
    const open = `weir1.${bound.number}.${bound.round}.${bound.expires}`;
    return `${open}.${this.#mac(open, bound).toString('base64url')}`;
  }

  /** What a state claims; undefined where it is none of ours. */
  read(state: string): Claim | undefined {
    const [, number, round, expires] = STATE.exec(state) ?? [];
    return number === undefined
      ? undefined
      : { number: Number(number), round: Number(round), expires: Number(expires) };
  }

  isGenuine(state: string, bound: Bound): boolean {
    const expected = Buffer.from(this.sign(bound));
    const given = Buffer.from(state);
    return expected.length === given.length && crypto().timingSafeEqual(expected, given);
  }

  #mac(open: string, { identity, fingerprint: request }: Bound): Buffer {
    this.#key ??= crypto().randomBytes(KEY_BYTES);
    return crypto().createHmac('sha256', this.#key).update(JSON.stringify([open, identity, request])).digest();
  }
}

/** What is asked for, whichever way it is written, without what may differ from try to try. */
export function fingerprint({ method, bytes, params }: Message): string {
  const text = params === undefined ? '{}' : bytes.toString('utf8', params.at, params.end);
  return crypto().createHash('sha256').update(JSON.stringify([method, askedFor(text)])).digest('base64url');
}

function askedFor(text: string): unknown {
  try {
    const { _meta, inputResponses, requestState, ...asked } = JSON.parse(text) as Record<string, unknown>;
    return sorted(asked);
  } catch {
    // Nested too deep to be compared in any other way.
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
