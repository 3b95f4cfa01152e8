import { Texts } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { duration } from '../../time/clock.ts';
import { Schedule, type Timers } from '../../time/schedule.ts';
import type { UpstreamServer } from '../server.ts';
import type { Skipped } from '../start/start-failure.ts';
import {
  healthStatus,
  isAwaited,
  type Health,
  type HealthEvent,
  type ServerHealthStatus,
  type SupervisionRules,
} from './health.ts';
import { logHealth } from './log-health.ts';
import { SupervisedServer, type SupervisedServerOptions } from './supervised-server.ts';

/** A change of a server's health, as programs and the gateway hear of it. */
export interface ServerEvent {
  readonly type: `server-${Exclude<HealthEvent['type'], 'pinged'>}` | 'server-auto-disabled';
  readonly serverKey: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Reason of a loss. */
  readonly reason?: string;
  readonly status: ServerHealthStatus;
}

export interface SupervisorOptions {
  readonly timers: Timers;
  readonly rules: SupervisionRules;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  create(serverKey: string): UpstreamServer;
  idleAfterMs?(serverKey: string): number | undefined;
  ready(child: UpstreamServer): void;
  gone(child: UpstreamServer): void;
  skipped(child: UpstreamServer, why: Skipped): void;
  endAll(serverKey: string): void;
  /** Hears of every change but that of a probe's latency. */
  healthChanged(event: ServerEvent, health: Health, before: Health): void;
}

/** Restarts servers that are lost. Nothing of it runs for a call: it sleeps until a timer is due or a server is lost. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #schedule: Schedule;
  readonly #serverOptions: SupervisedServerOptions;
  readonly #servers = new Map<string, SupervisedServer>();
  #hasBegun = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#schedule = new Schedule(options.timers);
    this.#serverOptions = {
      ...options,
      schedule: this.#schedule,
      changed: (server, event, before) => this.#changed(server, event, before),
    };
  }

  /** Supervises a server from now on; does not start it before `cleared` has settled. */
  adopt(child: UpstreamServer, health: Health, cleared?: Promise<unknown>): void {
    const server = new SupervisedServer(child, health, this.#serverOptions);
    this.#servers.set(child.serverKey, server);
    if (cleared !== undefined) server.waitFor(cleared);
    if (this.#hasBegun) server.begin();
  }

  /** Stops supervising. Resolves when earlier processes have exited. */
  disown(serverKey: string): Promise<unknown> | undefined {
    const server = this.#servers.get(serverKey);
    this.#servers.delete(serverKey);
    return server?.disown();
  }

  /** Resolves when the server runs, or has failed to start. */
  start(serverKey: string): Promise<void> {
    return this.#server(serverKey).start();
  }

  /** Begins to restart servers. Before that a loss is only noted: the first start decides what it means. */
  begin(): void {
    this.#hasBegun = true;
    for (const server of this.#servers.values()) server.begin();
  }

  /** Returns undefined for a server that is not supervised. */
  healthOf(serverKey: string): Health | undefined {
    return this.#servers.get(serverKey)?.health;
  }

  /** Returns true also for a server that is not supervised. */
  isEnabled(serverKey: string): boolean {
    return this.healthOf(serverKey)?.enabled !== false;
  }

  statusOf(serverKey: string): ServerHealthStatus | undefined {
    const health = this.healthOf(serverKey);
    return health && healthStatus(serverKey, health, this.#options.rules);
  }

  starting(child: UpstreamServer, start: Promise<unknown>): void {
    this.#servers.get(child.serverKey)?.starting(start);
  }

  connected(child: UpstreamServer): void {
    this.#servers.get(child.serverKey)?.connected(child);
  }

  lost(child: UpstreamServer, reason: string): void {
    this.#servers.get(child.serverKey)?.lost(child, reason);
  }

  enable(serverKey: string): Promise<void> {
    return this.#server(serverKey).enable();
  }

  disable(serverKey: string): Promise<void> {
    return this.#server(serverKey).disable();
  }

  /** Ends a server until it is started again; `what` ends a sentence that begins with its name. */
  pause(serverKey: string, what: string): void {
    this.#server(serverKey).pause(what);
  }

  async restart(serverKey: string): Promise<void> {
    const server = this.#server(serverKey);
    const { enabled, autoDisabled } = server.health;
    if (!enabled) throw new Error(Texts.isDisabled(serverKey, autoDisabled, this.#options.commandName));
    await server.restart();
  }

  /** Ends all attempts and probes. */
  stop(): void {
    for (const server of this.#servers.values()) server.close();
    this.#schedule.stop();
  }

  /** Returns when a server that does not run is tried next, as the end of a sentence about it. */
  retryHint(serverKey: string): string | undefined {
    const health = this.healthOf(serverKey);
    if (health === undefined) return undefined;
    const { enabled, connectionState, nextRetryAt } = health;
    const { commandName, timers } = this.#options;
    const wait = nextRetryAt === undefined ? undefined : duration(nextRetryAt - timers.now());
    if (isAwaited(health)) return unreachableHint(serverKey, wait, commandName);
    if (!enabled) return `it is disabled; enable it with "${commandName} enable ${serverKey}"`;
    if (connectionState === 'connecting') return 'it is starting';
    return wait === undefined ? undefined : `it is tried again in ${wait}`;
  }

  #server(serverKey: string): SupervisedServer {
    const server = this.#servers.get(serverKey);
    if (server === undefined)
      throw new Error(
        `There is no server '${serverKey}' to enable, disable or restart: the config does not have it, or Weir skipped it`,
      );
    return server;
  }

  /** Logs a change of a server's health and hands it on to the fleet, which remembers and publishes it. */
  #changed({ serverKey, health }: SupervisedServer, event: HealthEvent, before: Health): void {
    if (event.type === 'pinged') return;
    const { timers, rules } = this.#options;
    logHealth({ serverKey, event, health, before }, this.#options);
    const isAuto = event.type === 'lost' && health.autoDisabled && !before.autoDisabled;
    const told: ServerEvent = {
      type: isAuto ? 'server-auto-disabled' : `server-${event.type}`,
      serverKey,
      at: timers.now(),
      ...(event.type === 'lost' && { reason: event.reason }),
      status: healthStatus(serverKey, health, rules),
    };
    this.#options.healthChanged(told, health, before);
  }
}

function unreachableHint(serverKey: string, wait: string | undefined, commandName: string): string {
  const next = wait === undefined ? 'is trying again' : `tries again in ${wait}`;
  return `it is unreachable, and Weir ${next}; "${commandName} enable ${serverKey}" tries at once`;
}
