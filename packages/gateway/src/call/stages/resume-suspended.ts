import { RpcError } from '../../errors.ts';
import { isRetry } from '../../protocol/input-required.ts';
import type { Stage } from '../call.ts';
import type { ClientRequest } from '../client-request.ts';
import type { SuspendedCalls } from '../questions/suspended-calls.ts';

/** Hands the answers of a modern client to the suspended call of a legacy server that asked for them. */
export const resumeSuspended: Stage = {
  appliesTo: ({ caller, message, addressing }, { upstream }) =>
    caller.era === 'modern' && upstream.era === 'legacy' && addressing !== undefined && isRetry(message),
  run(request, target, { next, restart }) {
    const { message } = request;
    const resumed = resume(request);
    if (resumed === undefined) return;
    if (resumed instanceof RpcError) return request.refuse(resumed);
    request.message = resumed;
    // A call that is made anew may have to say first where its client works.
    if (resumed === message) next(target);
    else restart();
  },
};

/** Resumes the suspended call of a request whose name leads nowhere by now; false where there is none. */
export function resumesSuspended(request: ClientRequest): boolean {
  const isAnswer = request.caller.era === 'modern' && isRetry(request.message);
  return isAnswer && resume(request) === undefined;
}

function resume({ services, message, caller }: ClientRequest): ReturnType<SuspendedCalls['resume']> {
  return services.suspendedCalls.resume(message, caller);
}
