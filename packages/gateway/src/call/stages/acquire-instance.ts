import { forClients, Texts, RpcError, RpcErrorCode } from '../../errors.ts';
import type { Instance } from '../../upstream/pool/instances.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { answerError } from '../../wire/answer.ts';
import { decode } from '../../wire/json/splice.ts';
import { CallTranslation, type Address } from '../call-translation.ts';
import type { ClientRequest } from '../client-request.ts';
import { beginCall } from '../history/record-call.ts';
import type { Target } from '../resolve.ts';
import { withTasks } from '../tasks/task-translation.ts';
import { relayPermitted } from './permit.ts';
import { withFolderAgain } from './roots.ts';

/** A call of a server that clients do not share: it goes on when the one is up that is meant for it. */
export function forwardApart(asked: ClientRequest, target: Target, address?: Address): void {
  const { directory, caller, message } = asked;
  const { origin } = caller;
  let isCalledOff = false;
  // A call that gets through is noted on its way.
  const noted = () => beginCall(asked, target.upstream.serverKey, target.originalText);
  const refuse = (refusal: RpcError): void => {
    asked.permit?.over();
    noted()?.ended('error', refusal);
    answerError(origin, message.id, refusal);
  };
  const callOff = (): void => {
    isCalledOff = true;
    origin.untrack(ticket);
    asked.permit?.over();
    noted()?.ended('cancelled');
  };
  const ticket = origin.track({
    id: message.id,
    bytes: message.bytes.length,
    cancel: callOff,
    abandon: callOff,
  });
  directory.acquire(target.upstream, caller, asked.folder).then(
    (instance) => {
      if (isCalledOff) return instance.release();
      origin.untrack(ticket);
      const stopped = directory.current().limits?.refusal;
      if (stopped !== undefined) {
        instance.release();
        return refuse(stopped);
      }
      pass(asked, sameOf(target, instance.upstream), { address, instance });
    },
    (error: unknown) => {
      if (isCalledOff) return;
      origin.untrack(ticket);
      refuse(new RpcError(RpcErrorCode.UNAVAILABLE, Texts.noInstance(forClients(error as Error))));
    },
  );
}

function pass(
  asked: ClientRequest,
  target: Target,
  { address, instance }: { address: Address | undefined; instance: Instance },
): void {
  const { directory, caller, message } = asked;
  const { logLevel } = caller.envelope;
  if (caller.era === 'modern') directory.logLevels.askedBy(message, target.upstream);
  // What is shared hears the wishes of all clients, not those of one.
  else if (logLevel !== undefined && target.upstream.sharing !== 'shared')
    directory.logLevels.tell(target.upstream, decode(logLevel));
  const passage = withTasks(
    new CallTranslation(asked, target, address, () => instance.release()),
    asked,
    target.upstream,
  );
  relayPermitted(asked, withFolderAgain(passage, asked, target.upstream));
}

/** The same thing of another server; a route tells its text only when asked for it. */
function sameOf({ originalText, publicUri }: Target, upstream: Upstream): Target {
  return { upstream, originalText, ...(publicUri !== undefined && { publicUri }) };
}
