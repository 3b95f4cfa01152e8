import type { ServerConfig } from '../../config/config.generated.ts';
import { ChildServerError, ErrorPhase, Texts } from '../../errors.ts';
import type { Connection } from '../connection.ts';
import { refusalIn, type ChainRefusal } from '../gateway-chain.ts';
import { transportOf } from '../transports.ts';
import { reasonOf } from '../unavailable.ts';

/** A server that is a gateway has refused to serve this one, and always will: nothing has failed, and it is not tried again. */
export class Skipped extends ChildServerError {
  constructor(serverKey: string, { reason, gateway }: ChainRefusal, ownId: string) {
    const text =
      reason === 'loop' ? Texts.skippedLoop(serverKey, gateway === ownId) : skippedDepth(serverKey);
    super(text, serverKey, ErrorPhase.INITIALIZATION);
  }
}

/** Returns the error of a failed start, with the stderr tail of the server where there is one. */
export function startFailure(
  serverKey: string,
  error: Error,
  {
    connection,
    config,
    gateway,
  }: { connection: Connection | undefined; config: ServerConfig; gateway: string },
): ChildServerError {
  const refusal = refusalIn(error);
  if (refusal !== undefined) return new Skipped(serverKey, refusal, gateway);
  if (connection === undefined) {
    const text = `Failed to spawn server '${serverKey}': ${error.message}`;
    return new ChildServerError(text, serverKey, ErrorPhase.STARTUP, error);
  }
  const reason = transportOf(config).hideSecrets(reasonOf(error), config);
  const text = [
    `Server '${serverKey}' failed during initialization: it ${reason}`,
    ...connection.outputTail(),
  ].join('\n');
  return new ChildServerError(text, serverKey, ErrorPhase.INITIALIZATION, error);
}

function skippedDepth(serverKey: string): string {
  return `Server '${serverKey}' is skipped: it is a gateway, and the chain of gateways is already too long. Remove the entry from the config.`;
}
