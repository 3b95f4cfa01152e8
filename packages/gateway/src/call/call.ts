import { RpcError } from '../errors.ts';
import { mayRequireInput } from '../protocol/methods.ts';
import { BY_LEGACY_TASK, BY_MODERN_TASK, resolveTarget, type Addressing } from './addressing.ts';
import type { ClientRequest } from './client-request.ts';
import { levelAskedBy } from './log-levels.ts';
import { observersOf } from './observers.ts';
import { readChangedLists } from './read-changed-lists.ts';
import { accept } from './relay.ts';
import type { Target } from './resolve.ts';
import { acquireInstance } from './stages/acquire-instance.ts';
import { limit } from './stages/limit.ts';
import { logLevel } from './stages/log-level.ts';
import { resumeSuspended, resumesSuspended } from './stages/resume-suspended.ts';
import { retryWhenLost } from './stages/retry-when-lost.ts';
import { rootsFolder } from './stages/roots-folder.ts';
import { tasksRefusal } from './tasks/tasks.ts';
import { translationOf } from './translate.ts';

/** One step between the resolved name of a request and its server. */
export interface Stage {
  appliesTo(request: ClientRequest, target: Target): boolean;
  /** Does its part and goes on, at once or later, or answers the request itself. */
  run(request: ClientRequest, target: Target, steps: Steps): void;
}

interface Steps {
  /** Runs the stages that follow. */
  readonly next: (target: Target) => void;
  /** Resolves the name again and runs all stages. */
  readonly restart: () => void;
}

/** The steps between a resolved name and the server. A stage that does not apply to a request costs it one check. */
const STAGES: readonly Stage[] = [
  rootsFolder,
  resumeSuspended,
  limit,
  acquireInstance,
  logLevel,
  retryWhenLost,
];

/** Sends a request to the server that it names. */
export function call(request: ClientRequest, addressing: Addressing): void {
  request.addressing = addressing;
  const target = resolveTarget(request, addressing);
  if (!(target instanceof RpcError)) return proceed(request, target);
  if (readChangedLists(request, addressing, () => call(request, addressing))) return;
  // The call may be suspended and go on, whatever has become of the name.
  if (!resumesSuspended(request)) request.refuse(target);
}

/** Takes a request through the stages from number `from` on, then sends it to its server. */
export function proceed(request: ClientRequest, target: Target, from = 0): void {
  request.target = target;
  for (let at = from; at < STAGES.length; at++) {
    const stage = STAGES[at] as Stage;
    if (stage.appliesTo(request, target))
      return stage.run(request, target, {
        next: (found) => proceed(request, found, at + 1),
        restart: () => call(request, request.addressing as Addressing),
      });
  }
  const { caller, message, permit, resend } = request;
  const { upstream } = target;
  const inFlight = accept(message, {
    from: caller.origin,
    to: upstream.peer,
    serverKey: upstream.serverKey,
    caller,
    logLevel: caller.era === 'modern' ? levelAskedBy(message) : undefined,
    request: caller.era !== upstream.era && mayRequireInput(message.method) ? message : undefined,
    translation: translationOf(request, target),
    observer: observersOf(request, target),
    resend,
  });
  inFlight?.send(message);
  if (inFlight !== undefined) permit?.start(inFlight);
}

/** Sends a request about a task to the server that runs it. */
export function callTask(request: ClientRequest): void {
  const isModern = request.caller.era === 'modern';
  const refusal = isModern ? tasksRefusal(request.message) : undefined;
  if (refusal !== undefined) return request.refuse(refusal);
  call(request, isModern ? BY_MODERN_TASK : BY_LEGACY_TASK);
}
