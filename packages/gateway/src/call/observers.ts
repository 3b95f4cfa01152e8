import { quoted, type RpcError } from '../errors.ts';
import { now } from '../time/clock.ts';
import type { Message } from '../wire/message.ts';
import type { ClientRequest } from './client-request.ts';
import { recordCall } from './history/record-call.ts';
import type { CallObserver, CallPause, CallOutcome } from './relay.ts';
import type { Target } from './resolve.ts';

/** Returns the observer of a call: its history record, or several as one. */
export function observersOf(request: ClientRequest, target: Target): CallObserver | undefined {
  const { services, instance, permit } = request;
  const { trace } = services;
  const invocation = recordCall(request, target);
  if (permit === undefined && instance === undefined && trace === undefined) return invocation;
  const release = instance && { ended: (): void => instance.release() };
  const traced = trace && traceOf(request, target, trace);
  return new Observers([permit, release, invocation, traced].filter((one) => one !== undefined));
}

class Observers implements CallObserver {
  readonly wantsProgress: boolean;
  readonly #all: readonly CallObserver[];

  constructor(all: readonly CallObserver[]) {
    this.#all = all;
    this.wantsProgress = all.some((one) => one.wantsProgress === true);
  }

  sent(): void {
    for (const one of this.#all) one.sent?.();
  }

  answered(response: Message): void {
    for (const one of this.#all) one.answered?.(response);
  }

  progressed(): void {
    for (const one of this.#all) one.progressed?.();
  }

  paused(pause?: CallPause): void {
    for (const one of this.#all) one.paused?.(pause);
  }

  resumed(pause?: CallPause): void {
    for (const one of this.#all) one.resumed?.(pause);
  }

  ended(outcome: CallOutcome, error?: RpcError): void {
    for (const one of this.#all) one.ended?.(outcome, error);
  }
}

/** Writes a debug line with the outcome and duration of a call. */
function traceOf(
  { message: { method } }: ClientRequest,
  { upstream: { serverKey }, originalText }: Target,
  write: (text: string) => void,
): CallObserver {
  const began = now();
  return {
    ended(outcome) {
      const name = quoted(Buffer.from(originalText, 'latin1').toString('utf8'));
      const what = `${quoted(method)} ${name}`.trimEnd();
      write(`${what} on '${serverKey}': ${outcome} after ${(now() - began).toFixed(1)} ms`);
    },
  };
}
