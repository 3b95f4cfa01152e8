import { quoted, withoutTail } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { ServerRecord } from '../../state/server-record.ts';
import { ServerRecords, type KnownServer } from '../../state/server-records.ts';
import type { Stores } from '../../state/stores.ts';
import { NEW_SERVER, type Health } from './health.ts';

export interface HealthMemoryOptions {
  readonly stores: Pick<Stores, 'servers'>;
  readonly configPath?: string;
  readonly log: Log;
}

/** Keeps the health of servers from start to start; keeps nothing without a config file, which tells servers apart. */
export class HealthMemory {
  readonly #records: ServerRecords | undefined;

  constructor({ stores, configPath, log }: HealthMemoryOptions, known: readonly KnownServer[]) {
    if (configPath === undefined) return;
    this.#records = new ServerRecords({ store: stores.servers, configPath, log }, known);
  }

  /** Goes over to the servers of another config. */
  setServers(known: readonly KnownServer[]): void {
    this.#records?.setServers(known);
  }

  /** Returns the health of the servers that are disabled or have failed. */
  async recall(): Promise<[serverKey: string, health: Health][]> {
    const records = (await this.#records?.recall()) ?? [];
    return Array.from(records, ([serverKey, record]) => [serverKey, healthFrom(record)]);
  }

  remember(serverKey: string, health: Health, before: Health): void {
    const urgency = urgencyOf(health, before);
    if (urgency !== 'none') this.#records?.remember(serverKey, recordOf(health), urgency === 'urgent');
  }

  async persistError(serverKey: string): Promise<string | undefined> {
    return await this.#records?.persistError(serverKey);
  }

  /** Resolves when everything is written that can be. */
  async flush(): Promise<void> {
    await this.#records?.flush();
  }
}

/** Returns the part of a server's health that is saved. */
function recordOf(health: Health): ServerRecord {
  const { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount, wasUnreachable } = health;
  const lastError = autoDisabled && health.lastError ? quoted(withoutTail(health.lastError)) : undefined;
  return { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount, wasUnreachable, lastError };
}

/** The other direction: one that had failed before has yet to show that it stays. */
function healthFrom(record: ServerRecord): Health {
  return { ...NEW_SERVER, ...record, isRetrying: record.enabled && record.failureCount > 0 };
}

/** Returns how soon to save a change: the next start depends on disabled servers and failures. */
function urgencyOf(health: Health, before: Health): 'none' | 'some' | 'urgent' {
  if (health.enabled !== before.enabled || health.failureCount !== before.failureCount) return 'urgent';
  return health.lastConnectedAt === before.lastConnectedAt ? 'none' : 'some';
}
