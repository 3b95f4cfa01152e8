import { RpcError, RpcErrorCode } from '../../errors.ts';
import { errorLine } from '../../wire/answer.ts';
import { lineSize, type Line } from '../../wire/json/splice.ts';
import { spend } from '../../wire/slices.ts';
import type { HeaderList, OutgoingResponse } from './server/outgoing-response.ts';

/** Status and error of a request that is not served. */
export interface HttpRefusal {
  readonly status: number;
  readonly error: RpcError;
  readonly headers?: HeaderList;
}

export function respondJson(
  res: OutgoingResponse,
  status: number,
  line: Line,
  headers: HeaderList = [],
): void {
  spend(0, lineSize(line));
  res.send(status, headers.length === 0 ? JSON_HEADERS : [...JSON_HEADERS, ...headers], line);
}

export function methodNotAllowed(method: string | undefined, allowed: string): HttpRefusal {
  const error = new RpcError(
    RpcErrorCode.INVALID_REQUEST,
    `${method ?? ''} is not allowed here. Use ${allowed}.`,
  );
  return { status: 405, error, headers: ['Allow', allowed] };
}

/** An answer without a body. */
export function respondEmpty(res: OutgoingResponse, status: number, headers: HeaderList = []): void {
  res.send(status, headers);
}

/** Says why, as a JSON-RPC error; under the id of the request where that is known. */
export function refuse(res: OutgoingResponse, { status, error, headers }: HttpRefusal, id?: string): void {
  respondJson(res, status, errorLine(id, error), headers);
}

const JSON_HEADERS: HeaderList = ['Content-Type', 'application/json'];
