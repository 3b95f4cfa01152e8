import { RpcError, RpcErrorCode } from '../errors.ts';
import { escapeUnsafe } from '../log.ts';
import { shortened } from '../shorten.ts';
import type { Exit } from './process/spawn.ts';

/** Characters of a server's own error that are told. */
const LONGEST_REASON = 1000;

/** Error that requests get when their server does not run or was lost. */
export class Unavailable extends RpcError {
  /** The end of a sentence that begins with the server's name. */
  readonly what: string;

  constructor(serverKey: string, what: string) {
    super(RpcErrorCode.UNAVAILABLE, `Server '${serverKey}' ${what}`);
    this.what = what;
  }
}

/** Why a start failed, as the end of a sentence about the server; what it says itself may hold anything. */
export function reasonOf(error: Error): string {
  if (error instanceof Unavailable) return error.what;
  if (error instanceof RpcError)
    return `answered with the error ${error.code}: ${escapeUnsafe(shortened(error.message, LONGEST_REASON))}`;
  return error.message;
}

export function describeExit({ code, signal, why }: Exit): string {
  if (why !== undefined) return why;
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
}
