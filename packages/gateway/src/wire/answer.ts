import type { RpcError } from '../errors.ts';
import { encode, type Line } from './json/splice.ts';
import { isShallow } from './json/value-checks.ts';
import type { Origin } from './peer.ts';

// The only place where our own results and errors become JSON-RPC. Ids arrive as the text they were sent as.

export function resultLine(id: string, result: Line): Line {
  const head = `{"jsonrpc":"2.0","id":${id},"result":`;
  return typeof result === 'string' ? `${head}${result}}` : [head, ...result, '}'];
}

/** Without an id where it is not known which request failed. */
export function errorLine(id: string | undefined, { code, message, data }: RpcError): string {
  const member = id === undefined ? '' : `"id":${id},`;
  // Data may be a peer's own.
  const more = data !== undefined && isShallow(data) && { data };
  return `{"jsonrpc":"2.0",${member}"error":${encode({ code, message, ...more })}}`;
}

/** Answers a request with one of our errors. */
export function answerError(origin: Origin, id: string, error: RpcError): void {
  origin.answer(errorLine(id, error), error.code);
}

export function requestLine(id: number, method: string, params: string): Line {
  return `{"jsonrpc":"2.0","id":${id},"method":${encode(method)},"params":${params}}`;
}

export function notificationLine(method: string, params?: string): Line {
  return `{"jsonrpc":"2.0","method":${encode(method)}${params === undefined ? '' : `,"params":${params}`}}`;
}
