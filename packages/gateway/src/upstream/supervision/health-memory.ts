import type { Log } from '../../log.ts';
import { ServerMemory, type KnownServer } from '../../state/server-memory.ts';
import type { ServerRecord } from '../../state/server-record.ts';
import { NEW_SERVER, type Health } from './health.ts';

export interface HealthMemoryOptions {
  readonly state?: string;
  readonly configPath?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** What is known of servers from start to start; nothing, where there is no state folder or no file that tells them apart. */
export class HealthMemory {
  readonly #memory: ServerMemory | undefined;

  constructor({ state: folder, configPath, env, log }: HealthMemoryOptions, known: readonly KnownServer[]) {
    if (folder === undefined || configPath === undefined) return;
    this.#memory = new ServerMemory({ folder, configPath, env, log }, known);
  }

  /** The servers of another config. */
  setServers(known: readonly KnownServer[]): void {
    this.#memory?.setServers(known);
  }

  /** The servers of which more is known than that they have run. */
  noted(): string[] {
    return this.#memory?.noted() ?? [];
  }

  async recall(serverKeys: readonly string[]): Promise<[serverKey: string, health: Health][]> {
    if (this.#memory === undefined || serverKeys.length === 0) return [];
    const records = await this.#memory.recall(serverKeys);
    return Array.from(records, ([serverKey, record]) => [serverKey, healthFrom(record)]);
  }

  remember(serverKey: string, health: Health, before: Health): void {
    const urgency = urgencyOf(health, before);
    if (urgency !== 'none') this.#memory?.remember(serverKey, recordOf(health), urgency === 'urgent');
  }

  async persistError(serverKey: string): Promise<string | undefined> {
    return await this.#memory?.persistError(serverKey);
  }

  /** Resolves when everything is written that can be. */
  async flush(): Promise<void> {
    await this.#memory?.flush();
  }
}

/** What is kept of a server's health. */
function recordOf(health: Health): ServerRecord {
  const { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount, wasUnreachable } = health;
  return { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount, wasUnreachable };
}

/** The other direction: one that had failed before has yet to show that it stays. */
function healthFrom(record: ServerRecord): Health {
  return { ...NEW_SERVER, ...record, isRetrying: record.enabled && record.failureCount > 0 };
}

/** How much it matters that a change is kept: disabled servers and failures count at the next start. */
function urgencyOf(health: Health, before: Health): 'none' | 'some' | 'urgent' {
  if (health.enabled !== before.enabled || health.failureCount !== before.failureCount) return 'urgent';
  return health.lastConnectedAt === before.lastConnectedAt ? 'none' : 'some';
}
