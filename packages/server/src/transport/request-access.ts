import { isLoopback } from '../access/addresses.ts';
import { createAccessCheck } from '../access/host-and-origin.ts';
import type { HeaderValues, HttpExchange } from './exchange.ts';
import { refuse, Refusals } from './refusals.ts';

/** Names under which the server may be called, beside those of this machine. */
export interface AllowedNames {
  /** Further values of the Host header, such as `mcp.example.org`, with the port where clients send one. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call the server, such as `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

/** The end of the connection that belongs to the server. */
interface LocalEnd {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly isEncrypted?: boolean | undefined;
}

/** Headers for web pages of an allowed origin; a refusal where the request must not be served. */
export type AccessDecision =
  | { readonly isAllowed: true; readonly headers: HeaderValues }
  | { readonly isAllowed: false; answer(exchange: HttpExchange): void };

export type DecideAccess = (headers: RequestHeaders, end: LocalEnd) => AccessDecision;

/** The headers that decide. */
interface RequestHeaders {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

const ALL_ADDRESSES = '0.0.0.0';
const MOST_PORTS = 16;
const REMEDY =
  'call the server by an address of this machine and its port, or name it in allowedHosts or allowedOrigins';

/** Decides by Host and Origin, port included; answers the preflight requests of allowed origins. */
export function createAccessDecision(names: AllowedNames, host: string = ALL_ADDRESSES): DecideAccess {
  const { allowedHosts, allowedOrigins = [] } = names;
  const named = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  const checks = new Map<string, ReturnType<typeof createAccessCheck>>();
  const checkFor = (port: number, isEncrypted: boolean): ReturnType<typeof createAccessCheck> => {
    const scheme = isEncrypted ? 'https' : 'http';
    const key = `${scheme}:${port}`;
    const known = checks.get(key);
    if (known !== undefined) return known;
    const check = createAccessCheck({ host, port, scheme, allowedHosts, allowedOrigins });
    // A server has few ports; with `fetch` they are what clients say, so that they must not fill the memory.
    if (checks.size >= MOST_PORTS) checks.clear();
    checks.set(key, check);
    return check;
  };
  return ({ method, host: called, origin }, { localAddress, localPort = 0, isEncrypted = false }) => {
    const foreign = checkFor(localPort, isEncrypted)({ host: called, origin, localAddress });
    if (foreign !== undefined) {
      const refusal = Refusals.foreign(foreign.header, foreign.value, REMEDY);
      return { isAllowed: false, answer: (exchange) => refuse(exchange, refusal) };
    }
    const headers = origin !== undefined && named.has(origin.toLowerCase()) ? sharedWith(origin) : {};
    if (method !== 'OPTIONS' || origin === undefined) return { isAllowed: true, headers };
    return {
      isAllowed: false,
      answer: (exchange) => exchange.answer(204, undefined, { ...headers, ...preflightOf(exchange) }),
    };
  };
}

/** Decides for a server that knows no socket: names of this machine at any port, and pages from that same address. */
export function createFetchAccessDecision(names: AllowedNames): (request: Request) => AccessDecision {
  const decide = createAccessDecision(names);
  return (request) => {
    const url = new URL(request.url);
    const host = request.headers.get('host') ?? url.host;
    const { hostname, port } = addressOf(host) ?? { hostname: '', port: '' };
    const isEncrypted = url.protocol === 'https:';
    const localPort = Number(port === '' ? (isEncrypted ? 443 : 80) : port);
    const origin = request.headers.get('origin') ?? undefined;
    const localAddress = isLoopback(hostname) ? hostname : undefined;
    return decide({ method: request.method, host, origin }, { localAddress, localPort, isEncrypted });
  };
}

function addressOf(host: string): { hostname: string; port: string } | undefined {
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  return url && { hostname: url.hostname.replace(/^\[(.*)\]$/u, '$1'), port: url.port };
}

function sharedWith(origin: string): HeaderValues {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Mcp-Session-Id, WWW-Authenticate',
    Vary: 'Origin',
  };
}

/** Allows the headers that the page asks for, because those of arguments have names that only the server knows. */
function preflightOf(exchange: HttpExchange): HeaderValues {
  return {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': exchange.header('access-control-request-headers') ?? 'Content-Type',
    'Access-Control-Max-Age': '600',
  };
}
