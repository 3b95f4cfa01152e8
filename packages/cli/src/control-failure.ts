import type { FoundGateway } from '@weir/gateway';

/** What was asked of a running gateway could not be done; the message says why and what to do. */
export class ControlFailure extends Error {
  override readonly name = 'ControlFailure';
}

/** The gateways that run and say nothing, by their process ids. */
export function silentAmong(found: readonly FoundGateway[]): number[] {
  return found.filter(({ report }) => report === undefined).map(({ socketPath }) => socketPath.pid);
}

export function doesNotAnswer(pid: number | undefined): string {
  return `Gateway ${pid} does not answer: it is stopped, or has too much to do.`;
}
