import { type AccessCheck, createAccessCheck, type ForeignHeader, urlOf } from '@weir/server/access';
import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import type { View } from '../../gateway/view.ts';
import type { HttpRefusal } from './respond.ts';
import type { IncomingRequest } from './server/incoming-request.ts';

export interface AdmissionOptions {
  /** Host that the front listens on. */
  readonly host: string;
  readonly port: number;
  /** Further values of the Host header, as a proxy or another name of this machine brings them. */
  readonly allowedHosts?: readonly string[];
  /** Undefined where no token is required. */
  readonly token?: string | undefined;
  /** Compares in a time that tells nothing of where two texts differ. */
  readonly isSame: (a: Buffer, b: Buffer) => boolean;
}

/** The principal of a request, and the view that its path names. */
export interface Access {
  readonly principal: string;
  readonly view: View;
}

/** The only principal: the holder of the token. */
const OWNER = 'owner';

/** Refuses requests for foreign hosts (DNS rebinding), from foreign origins, and without the token. */
export class Admission {
  readonly #check: AccessCheck;
  readonly #token: Buffer | undefined;
  readonly #isSame: AdmissionOptions['isSame'];
  readonly #url: string;

  constructor({ host, port, allowedHosts, token, isSame }: AdmissionOptions) {
    this.#check = createAccessCheck({ host, port, allowedHosts });
    this.#token = token === undefined ? undefined : Buffer.from(token);
    this.#isSame = isSame;
    this.#url = urlOf(host, port);
  }

  /** Returns a refusal where Host or Origin is not one of this front. */
  checkHostAndOrigin({ headers, localAddress }: IncomingRequest): HttpRefusal | undefined {
    const foreign = this.#check({ host: headers.get('host'), origin: headers.get('origin'), localAddress });
    return foreign && this.#refuse(foreign);
  }

  /** Returns the principal of a request, or a refusal. */
  identify({ headers }: IncomingRequest): string | HttpRefusal {
    if (this.#token === undefined) return OWNER;
    const authorization = headers.get('authorization');
    const shown = authorization === undefined ? undefined : bearer(authorization);
    if (shown === undefined) return unauthorized('Send the token: Authorization: Bearer <token>', 'Bearer');
    const bytes = Buffer.from(shown);
    if (bytes.length === this.#token.length && this.#isSame(bytes, this.#token)) return OWNER;
    return unauthorized(
      'Wrong token: send the one that Weir printed when it started',
      'Bearer error="invalid_token"',
    );
  }

  #refuse({ header, value }: ForeignHeader): HttpRefusal {
    const what =
      value === undefined ? `The ${header} header is missing` : `${header} '${quoted(value)}' is not allowed`;
    const text = `${what}. Use ${this.#url}, or allow that name with --allowed-host.`;
    return { status: 403, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
  }
}

/** The scheme may be written in any case; a second token or anything after it makes none. */
function bearer(authorization: string): string | undefined {
  return /^bearer +([\w.~+/=-]+) *$/iu.exec(authorization)?.[1];
}

function unauthorized(text: string, challenge: string): HttpRefusal {
  return {
    status: 401,
    error: new RpcError(RpcErrorCode.UNAVAILABLE, `${text}.`),
    headers: ['WWW-Authenticate', challenge],
  };
}
