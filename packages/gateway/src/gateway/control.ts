import { callsOf, questionsOf } from '../call/questions/ask.ts';
import { isSwitchedOff } from '../config/server-kind.ts';
import type { ServerHealthStatus } from '../upstream/supervision/health.ts';
import type { LoggedLine } from '../upstream/supervision/server-logs.ts';
import type { Supervisor } from '../upstream/supervision/supervisor.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Parts } from './wiring.ts';

/** State of a server, for people. */
export interface ServerReport {
  readonly serverKey: string;
  readonly enabled: boolean;
  /** Disabled by the rule, after too many failures. */
  readonly autoDisabled: boolean;
  /** When it was last connected, in milliseconds since 1970; kept after a loss and over restarts of the gateway. */
  readonly lastConnectedAt?: number | undefined;
  readonly failureCount: number;
  /** Why it was lost the last time. */
  readonly lastError?: string | undefined;
  readonly health: ServerHealthStatus;
}

/** Shows the state of servers; enables, disables and restarts them; pauses and resumes all calls. */
export class GatewayControl {
  readonly #parts: Parts;
  readonly #lifecycle: Lifecycle;

  constructor(parts: Parts, lifecycle: Lifecycle) {
    this.#parts = parts;
    this.#lifecycle = lifecycle;
  }

  reports(): ServerReport[] {
    const { servers, supervisor } = this.#parts.fleet;
    return [...servers.byKey.keys()].flatMap((serverKey) => reportOf(serverKey, supervisor) ?? []);
  }

  logsOf(serverKey: string): readonly LoggedLine[] | undefined {
    const { servers, logs } = this.#parts.fleet;
    return servers.byKey.has(serverKey) ? logs.of(serverKey) : undefined;
  }

  async enable(serverKey: string): Promise<void> {
    const supervisor = await this.#supervisorOf(serverKey);
    await supervisor.enable(serverKey);
    await this.#persist(serverKey);
  }

  async disable(serverKey: string): Promise<void> {
    const supervisor = await this.#supervisorOf(serverKey);
    await supervisor.disable(serverKey);
    await this.#persist(serverKey);
  }

  async restart(serverKey: string): Promise<void> {
    const supervisor = await this.#supervisorOf(serverKey);
    await supervisor.restart(serverKey);
  }

  stopCalls(): void {
    const { fleet, callLimits, suspendedCalls, restartWaiters } = this.#parts;
    callLimits.stop();
    this.#parts.publish();
    restartWaiters.close();
    const calls = fleet.connected().flatMap((child) => {
      const underWay = callsOf(child);
      // With a call ends the way on which its client is asked: what it is asked is withdrawn first.
      return underWay.length === 0 ? [] : [...questionsOf(child), ...underWay];
    });
    for (const call of new Set([...calls, ...suspendedCalls.inRounds])) callLimits.revoke(call);
  }

  resumeCalls(): void {
    this.#parts.callLimits.resume();
    this.#parts.publish();
  }

  get isStopped(): boolean {
    return this.#parts.callLimits.refusal !== undefined;
  }

  /** Returns the supervisor, unless the config or the group leaves the server out. */
  async #supervisorOf(serverKey: string): Promise<Supervisor> {
    const { config, fleet, options } = this.#parts;
    if (fleet.isOutside(serverKey)) throw new Error(outsideGroup(serverKey, options.group));
    const entry = config.mcpServers[serverKey];
    if (entry !== undefined && isSwitchedOff(entry))
      throw new Error(
        `Server '${serverKey}' is switched off in the config file, which overrides this command: change its "enabled" or "disabled" there`,
      );
    await this.#lifecycle.afterStart();
    return fleet.supervisor;
  }

  /** Throws where the state was not saved, because the caller expects it to survive a restart. */
  async #persist(serverKey: string): Promise<void> {
    const reason = await this.#parts.fleet.memory.persistError(serverKey);
    if (reason !== undefined)
      throw new Error(
        `Server '${serverKey}' was changed, but Weir could not save that, so it lasts only until the gateway stops: ${reason}`,
      );
  }
}

/** Returns undefined for a server that is not supervised. */
function reportOf(serverKey: string, supervisor: Supervisor): ServerReport | undefined {
  const [known, health] = [supervisor.healthOf(serverKey), supervisor.statusOf(serverKey)];
  if (known === undefined || health === undefined) return undefined;
  const { enabled, autoDisabled, lastConnectedAt, failureCount, lastError } = known;
  return { serverKey, enabled, autoDisabled, lastConnectedAt, failureCount, lastError, health };
}

function outsideGroup(serverKey: string, group = ''): string {
  return `Server '${serverKey}' does not run here: this gateway serves only group '${group}', which does not contain it`;
}
