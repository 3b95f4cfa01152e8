import type { ServerRecord } from '../state/server-record.ts';
import { NEW_SERVER, type Health } from './health.ts';

/** What is kept of a server's health. */
export function recordOf(health: Health): ServerRecord {
  const { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount } = health;
  return { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount };
}

/** The other direction: one that had failed before has yet to show that it stays. */
export function healthFrom(record: ServerRecord): Health {
  return { ...NEW_SERVER, ...record, isRetrying: record.enabled && record.failureCount > 0 };
}

/** How much it matters that a change is kept: disabled servers and failures count at the next start. */
export function urgencyOf(health: Health, before: Health): 'none' | 'some' | 'urgent' {
  if (health.enabled !== before.enabled || health.failureCount !== before.failureCount) return 'urgent';
  return health.lastConnectedAt === before.lastConnectedAt ? 'none' : 'some';
}
