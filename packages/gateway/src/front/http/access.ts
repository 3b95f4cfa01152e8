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
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #isOpenToAll: boolean;
  readonly #port: number;
  readonly #token: Buffer | undefined;
  readonly #isSame: AdmissionOptions['isSame'];
  readonly #url: string;

  constructor({ host, port, allowedHosts = [], token, isSame }: AdmissionOptions) {
    const own = ['127.0.0.1', 'localhost', '[::1]', bracketed(host)].flatMap((name) => withPort(name, port));
    const forbidden = allowedHosts.map((name) => name.toLowerCase());
    this.#hosts = new Set([...own, ...forbidden]);
    this.#origins = new Set([
      ...own.map((name) => `http://${name}`),
      ...forbidden.flatMap((name) => [`http://${name}`, `https://${name}`]),
    ]);
    this.#isOpenToAll = isWildcard(host);
    this.#port = port;
    this.#token = token === undefined ? undefined : Buffer.from(token);
    this.#isSame = isSame;
    this.#url = `http://${isWildcard(host) ? '127.0.0.1' : bracketed(host)}:${port}`;
  }

  /** Returns a refusal where Host or Origin is not one of this front. */
  checkHostAndOrigin(req: IncomingRequest): HttpRefusal | undefined {
    const host = req.headers.get('host');
    const origin = req.headers.get('origin');
    if (host === undefined || !(this.#hosts.has(host.toLowerCase()) || this.#isLocalAddress(req, host)))
      return this.#foreign('Host', host);
    if (
      origin !== undefined &&
      !this.#origins.has(origin.toLowerCase()) &&
      !this.#isLocalAddress(req, origin)
    )
      return this.#foreign('Origin', origin);
    return undefined;
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

  /** On all addresses at once, the one that was connected to is right: a name that was led here is never an address. */
  #isLocalAddress({ localAddress }: IncomingRequest, value: string): boolean {
    if (!this.#isOpenToAll || localAddress === undefined) return false;
    const address = bracketed(localAddress.replace(/^::ffff:/u, ''));
    return withPort(address, this.#port).some((name) => value === name || value === `http://${name}`);
  }

  #foreign(header: 'Host' | 'Origin', value: string | undefined): HttpRefusal {
    const what =
      value === undefined ? `The ${header} header is missing` : `${header} '${quoted(value)}' is not allowed`;
    const text = `${what}. Use ${this.#url}, or allow that name with --allowed-host.`;
    return { status: 403, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** As an address stands in a URL. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase();
}

/** The port of http is left out by those who are polite. */
function withPort(name: string, port: number): string[] {
  return port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
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
