import type { IncomingMessage, ServerResponse } from 'node:http';
import { RpcError, RpcErrorCode } from '../../errors.ts';
import type { HttpRefusal } from './respond.ts';

/** A path that the HTTP front serves. `compose-front` mounts all of them. */
export interface HttpRoute {
  /** A path that ends in a slash serves everything below it. */
  readonly path: string;
  /** Allowed methods. Without them the route checks the method itself, as /mcp does, because it depends on the era. */
  readonly methods?: readonly string[];
  readonly needsToken: boolean;
  /** `principal` is who showed the token; empty where none is needed. */
  handle(req: IncomingMessage, res: ServerResponse, principal: string): void;
}

export function methodNotAllowed(method: string | undefined, allowed: string): HttpRefusal {
  const error = new RpcError(
    RpcErrorCode.INVALID_REQUEST,
    `${method ?? ''} is not allowed here. Use ${allowed}.`,
  );
  return { status: 405, error, headers: ['Allow', allowed] };
}
