import type { ServerHealthStatus } from '../upstream/supervision/health.ts';
import type { Supervisor } from '../upstream/supervision/supervisor.ts';

/** A server as people ask about it. */
export interface ServerReport {
  readonly serverKey: string;
  readonly enabled: boolean;
  /** Disabled by the rule, after too many failures. */
  readonly autoDisabled: boolean;
  readonly lastConnectedAt?: number | undefined;
  readonly failureCount: number;
  /** Why it was lost the last time. */
  readonly lastError?: string | undefined;
  readonly health: ServerHealthStatus;
}

/** Undefined for a server that is not looked after. */
export function reportOf(serverKey: string, supervisor: Supervisor): ServerReport | undefined {
  const [known, health] = [supervisor.healthOf(serverKey), supervisor.statusOf(serverKey)];
  if (known === undefined || health === undefined) return undefined;
  const { enabled, autoDisabled, lastConnectedAt, failureCount, lastError } = known;
  return { serverKey, enabled, autoDisabled, lastConnectedAt, failureCount, lastError, health };
}
