import { Method } from '../../protocol/methods.ts';
import type { Stage } from '../call.ts';
import type { ClientRequest } from '../client-request.ts';
import { recordCall } from '../history/record-call.ts';
import type { Target } from '../resolve.ts';

/** Maximum of retries of a call whose tool declares that repeating it does no harm. */
const MAX_RETRIES = 3;
/** Bytes of a request that is kept while it is in flight, so that it can be sent again. */
const LARGEST_KEPT = 1024 * 1024;

/** Makes a call again whose server is lost while it works on it, where the tool says that this does no harm. */
export const retryWhenLost: Stage = {
  appliesTo: isRepeatable,
  run(request, target, { next, restart }) {
    const { serverKey } = target.upstream;
    recordCall(request, target, MAX_RETRIES);
    request.resend = {
      bytes: request.message.bytes.length,
      send: (error) =>
        waitForRestart(request, serverKey, { wasSent: true }, (isBack) => {
          request.permit = undefined;
          request.resend = undefined;
          request.attempt++;
          if (isBack) restart();
          else request.refuse(error);
        }),
    };
    next(target);
  },
};

/** Returns true where a call may be made once more when its server is lost. */
export function isRepeatable({ message, attempt }: ClientRequest, target: Target): boolean {
  if (message.method !== Method.CALL_TOOL || target.isRepeatable !== true) return false;
  return attempt < MAX_RETRIES && message.bytes.length <= LARGEST_KEPT;
}

/** Returns how often a call may be repeated, for its history record. */
export function retriesOf(request: ClientRequest, target: Target): number {
  return isRepeatable(request, target) ? MAX_RETRIES : 0;
}

/** Waits for a server to run again, unless another has taken its place. `wasSent`: the server may have died of this call. */
export function waitForRestart(
  request: ClientRequest,
  serverKey: string,
  { wasSent }: { wasSent: boolean },
  next: (isBack: boolean) => void,
): void {
  const { current } = request.snapshot;
  const running = current().registry.upstreams.get(serverKey);
  const goOn = (isBack: boolean): void => {
    request.snapshot = current();
    next(isBack);
  };
  if (running !== undefined && running.peer.gone === undefined) return goOn(true);
  request.wait(request.services.restartWaiters.wait(serverKey, wasSent), goOn);
}
