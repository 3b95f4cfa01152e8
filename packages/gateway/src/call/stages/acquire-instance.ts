import { forClients, RpcError, RpcErrorCode } from '../../errors.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { Stage } from '../call.ts';
import type { Target } from '../resolve.ts';

/** Acquires the instance of a server that serves this caller: a dedicated one, or a shared one that starts lazily. */
export const acquireInstance: Stage = {
  appliesTo: ({ services, caller }, { upstream }) => services.needsAcquire(upstream, caller),
  run(request, target, { next }) {
    const { snapshot, services, caller, folder } = request;
    request.wait(
      services.acquire(target.upstream, caller, folder),
      (instance) => {
        const stopped = snapshot.current().callLimits?.refusal;
        if (stopped === undefined) {
          request.instance = instance;
          return next(sameOf(target, instance.upstream));
        }
        instance.release();
        request.refuse(stopped);
      },
      {
        failed: (error) =>
          request.refuse(
            new RpcError(
              RpcErrorCode.UNAVAILABLE,
              `Weir could not start a server for this call: ${forClients(error)}`,
            ),
          ),
        unwanted: (instance) => instance.release(),
      },
    );
  },
};

/** The same name at another instance; a route works its text out only when it is read. */
function sameOf({ originalText, publicUri }: Target, upstream: Upstream): Target {
  return { upstream, originalText, ...(publicUri !== undefined && { publicUri }) };
}
