import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import type { HttpRefusal } from './respond.ts';
import type { IncomingRequest } from './server/incoming-request.ts';
import type { OutgoingResponse } from './server/outgoing-response.ts';

/** A path that the HTTP front serves. `compose-front` mounts all of them. */
export interface HttpRoute {
  /** A path that ends in a slash serves everything below it. */
  readonly path: string;
  /** Allowed methods. Without them the route checks the method itself, as /mcp does, because it depends on the era. */
  readonly methods?: readonly string[];
  readonly needsToken: boolean;
  /** `principal` is who showed the token; empty where none is needed. */
  handle(req: IncomingRequest, res: OutgoingResponse, principal: string): void;
}

/** Refuses a request whose target is ambiguous, because a proxy may have understood another one (request smuggling). */
export function checkTarget({ url, headers }: IncomingRequest): HttpRefusal | undefined {
  const host = headers.get('host') ?? '';
  const authority = splitTarget(url)?.authority;
  if (authority === undefined || authority.toLowerCase() === host.toLowerCase()) return undefined;
  return ambiguous(
    `The request line names '${quoted(authority)}', and Host is '${quoted(host)}'. Name the same in both.`,
  );
}

/** The path of a request's target, which proxies write as a whole URL; a slash at its end means nothing. */
export function pathOf(url: string): string {
  const { path } = splitPath(url);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The value of a parameter in a target's query. */
export function parameterOf(url: string, name: string): string | undefined {
  return new URLSearchParams(splitPath(url).query).get(name) ?? undefined;
}

function splitPath(url: string): { path: string; query: string } {
  const target = splitTarget(url)?.path ?? url;
  const query = target.indexOf('?');
  return query < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, query), query: target.slice(query) };
}

/** Undefined for the usual form, which is a path alone. */
function splitTarget(url: string): { authority: string; path: string } | undefined {
  if (url.startsWith('/')) return undefined;
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)(.*)$/isu.exec(url) ?? [];
  return authority === '' ? undefined : { authority, path: path.startsWith('/') ? path : `/${path}` };
}

function ambiguous(text: string): HttpRefusal {
  return { status: 400, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}
