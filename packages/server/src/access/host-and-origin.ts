import { bracketed, isWildcard } from './addresses.ts';

export interface AccessOptions {
  /** Address that the server listens on. */
  readonly host: string;
  /** Port that the server listens on. */
  readonly port: number;
  /** Scheme that the server speaks: `http` where it is left out. */
  readonly scheme?: 'http' | 'https' | undefined;
  /** Further values of the Host header, as a proxy or another name of this machine brings them. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Further values of the Origin header, such as `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** The headers of a request that say for whom it is and where it comes from. */
export interface AccessRequest {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Address that the client connected to; needed where the server listens on all addresses. */
  readonly localAddress?: string | undefined;
}

/** The header that refuses a request, and its value; undefined where it is missing. */
export interface ForeignHeader {
  readonly header: 'Host' | 'Origin';
  readonly value: string | undefined;
}

/** Returns the header that refuses a request, or undefined where the request is admitted. */
export type AccessCheck = (request: AccessRequest) => ForeignHeader | undefined;

/** Makes a check of Host and Origin, port included: against DNS rebinding, and web pages that call servers of this machine. */
export function createAccessCheck(options: AccessOptions): AccessCheck {
  const { host, port, scheme = 'http', allowedHosts = [], allowedOrigins = [] } = options;
  const own = ['127.0.0.1', 'localhost', '[::1]', bracketed(host)].flatMap((name) =>
    withPort(name, port, scheme),
  );
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  const hosts = new Set([...own, ...allowed]);
  const origins = new Set([
    ...own.map((name) => `${scheme}://${name}`),
    ...allowed.flatMap((name) => [`http://${name}`, `https://${name}`]),
    ...allowedOrigins.map((origin) => origin.toLowerCase()),
  ]);
  // On all addresses at once, the one that was connected to is right: a rebound name is never an address.
  const isConnectedAddress = (value: string, localAddress: string | undefined): boolean => {
    if (!isWildcard(host) || localAddress === undefined) return false;
    const address = bracketed(localAddress.replace(/^::ffff:/u, ''));
    return withPort(address, port, scheme).some((name) => value === name || value === `${scheme}://${name}`);
  };
  return (request) => {
    const { localAddress } = request;
    if (request.host === undefined) return { header: 'Host', value: undefined };
    if (!hosts.has(request.host.toLowerCase()) && !isConnectedAddress(request.host, localAddress))
      return { header: 'Host', value: request.host };
    const { origin } = request;
    if (origin === undefined || origins.has(origin.toLowerCase()) || isConnectedAddress(origin, localAddress))
      return undefined;
    return { header: 'Origin', value: origin };
  };
}

/** A client may leave out the port that the scheme implies. */
function withPort(name: string, port: number, scheme: 'http' | 'https'): string[] {
  return port === (scheme === 'http' ? 80 : 443) ? [name, `${name}:${port}`] : [`${name}:${port}`];
}
