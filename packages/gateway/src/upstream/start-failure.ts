import { ChildServerError, ErrorPhase, Messages } from '../errors.ts';
import type { Connection } from './connection.ts';
import { reasonOf } from './unavailable.ts';

/** Why a server has not come up, with its last words where it could say any. */
export function startFailure(
  serverKey: string,
  error: Error,
  connection: Connection | undefined,
): ChildServerError {
  if (connection === undefined) {
    const text = Messages.spawnFailed(serverKey, error.message);
    return new ChildServerError(text, serverKey, ErrorPhase.STARTUP, error);
  }
  const text = [Messages.startFailed(serverKey, reasonOf(error)), ...connection.lastWords()].join('\n');
  return new ChildServerError(text, serverKey, ErrorPhase.INITIALIZATION, error);
}
