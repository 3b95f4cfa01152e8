import { RpcError } from '../../errors.ts';
import { resolveTarget } from '../addressing.ts';
import type { Stage } from '../call.ts';
import { recordCall } from '../history/record-call.ts';
import { retriesOf, waitForRestart } from './retry-when-lost.ts';

/** Lets a call begin within the limits of the config, after others, or refuses it. */
export const limit: Stage = {
  appliesTo: ({ snapshot, message }) => snapshot.callLimits?.appliesTo(message) === true,
  run(request, target, { next }) {
    // A call that waits is a call already.
    recordCall(request, target, retriesOf(request, target));
    request.snapshot.callLimits?.admit(request, target, (permit, hasWaited) => {
      request.permit = permit;
      if (!hasWaited) return next(target);
      // Its server may have been lost meanwhile. Nothing was sent, so it may wait for the restart as well.
      waitForRestart(request, target.upstream.serverKey, { wasSent: false }, () => {
        const { callLimits } = request.snapshot;
        const { addressing } = request;
        const found = callLimits?.refusal ?? (addressing ? resolveTarget(request, addressing) : target);
        if (!(found instanceof RpcError)) return next(found);
        callLimits?.uncount(request);
        request.refuse(found);
      });
    });
  },
};
