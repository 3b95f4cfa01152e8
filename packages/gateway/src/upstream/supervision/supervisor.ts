import { Texts } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { duration } from '../../time/clock.ts';
import { Schedule, type Timers } from '../../time/schedule.ts';
import type { UpstreamServer } from '../server.ts';
import type { Skipped } from '../start-failure.ts';
import {
  healthStatus,
  isAwaited,
  type Health,
  type HealthEvent,
  type ServerHealthStatus,
  type SupervisionRules,
} from './health.ts';
import { SupervisedServer, type SupervisedServerOptions } from './supervised-server.ts';

/** Something has changed about a server. */
export interface ServerEvent {
  readonly type: `server-${Exclude<HealthEvent['type'], 'pinged'>}` | 'server-auto-disabled';
  readonly serverKey: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Why it was lost. */
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
  onEvent(event: ServerEvent): void;
  /** To be kept for the next start of the gateway. */
  remember(serverKey: string, health: Health, before: Health): void;
}

/** Keeps servers alive. Nothing of it is on the path of a call: it sleeps until something is due or lost. */
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

  /** Looks after a server from now on; it is not started before `cleared` has settled. */
  adopt(child: UpstreamServer, health: Health, cleared?: Promise<unknown>): void {
    const server = new SupervisedServer(child, health, this.#serverOptions);
    this.#servers.set(child.serverKey, server);
    if (cleared !== undefined) server.waitFor(cleared);
    if (this.#hasBegun) server.begin();
  }

  /** Looks after it no more. Resolves when nothing is left of starts before its last one. */
  dismiss(serverKey: string): Promise<unknown> | undefined {
    const server = this.#servers.get(serverKey);
    this.#servers.delete(serverKey);
    return server?.dismiss();
  }

  /** Resolves when it runs, or has turned out not to. */
  start(serverKey: string): Promise<void> {
    return this.#server(serverKey).start();
  }

  /** Until then only notes what happens: whoever starts the servers decides what a loss means. */
  begin(): void {
    this.#hasBegun = true;
    for (const server of this.#servers.values()) server.begin();
  }

  /** Undefined for a server that is not looked after. */
  healthOf(serverKey: string): Health | undefined {
    return this.#servers.get(serverKey)?.health;
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

  /** Nothing is tried or asked any more. */
  stop(): void {
    for (const server of this.#servers.values()) server.close();
    this.#schedule.stop();
  }

  /** When a server that does not run is tried next, as the end of a sentence about it. */
  retryHint(serverKey: string): string | undefined {
    const health = this.healthOf(serverKey);
    if (health === undefined) return undefined;
    const { enabled, connectionState, nextRetryAt } = health;
    const { commandName, timers } = this.#options;
    const wait = nextRetryAt === undefined ? undefined : duration(nextRetryAt - timers.now());
    if (isAwaited(health)) return Texts.awaited(serverKey, wait, commandName);
    if (!enabled) return Texts.mayBeEnabled(serverKey, commandName);
    if (connectionState === 'connecting') return 'it is being started';
    return wait === undefined ? undefined : `it is tried again in ${wait}`;
  }

  #server(serverKey: string): SupervisedServer {
    const server = this.#servers.get(serverKey);
    if (server === undefined) throw new Error(Texts.notSupervised(serverKey));
    return server;
  }

  #changed(server: SupervisedServer, event: HealthEvent, before: Health): void {
    const { serverKey, health } = server;
    if (event.type === 'pinged') return;
    this.#log(server, event, before);
    this.#options.remember(serverKey, health, before);
    const isAuto = event.type === 'lost' && health.autoDisabled && !before.autoDisabled;
    this.#options.onEvent({
      type: isAuto ? 'server-auto-disabled' : `server-${event.type}`,
      serverKey,
      at: this.#options.timers.now(),
      ...(event.type === 'lost' && { reason: event.reason }),
      status: healthStatus(serverKey, health, this.#options.rules),
    });
  }

  #log({ serverKey, health }: SupervisedServer, event: HealthEvent, before: Health): void {
    const { log } = this.#options;
    if (event.type === 'lost') return this.#logLoss(serverKey, { health, before, reason: event.reason });
    if (event.type === 'connected' && isAwaited(before)) return log.info(Texts.reachedAgain(serverKey));
    if (event.type === 'connected' && before.isRetrying) return log.info(Texts.runsAgain(serverKey));
    if (event.type === 'enabled') return log.info(`Server '${serverKey}' has been enabled`);
    if (event.type === 'disabled') return log.info(`Server '${serverKey}' has been disabled`);
    log.debug?.(`[${serverKey}] ${event.type}`);
  }

  /** Logs the whole reason once; a server that fails again for the same reason gets one line. */
  #logLoss(serverKey: string, { health, before, reason }: Loss): void {
    const { log, timers, rules } = this.#options;
    if (isAwaited(before) && isAwaited(health))
      return log.debug?.(`Server '${serverKey}' still cannot be reached: ${reason}`);
    const isRepeated = before.isRetrying && isSameReason(before.lastError ?? '', reason);
    if (!isRepeated) log.error(reason);
    if (health.autoDisabled) return log.error(autoDisabledText(serverKey, health, this.#options));
    const again = `tried again in ${duration((health.nextRetryAt ?? 0) - timers.now())} (attempt ${health.failureCount + 1} of ${rules.backOffMs.length})`;
    log.warn(
      isRepeated
        ? `Server '${serverKey}' failed again for the same reason; it is ${again}`
        : `Server '${serverKey}' is ${again}`,
    );
  }
}

interface Loss {
  readonly health: Health;
  readonly before: Health;
  readonly reason: string;
}

function autoDisabledText(
  serverKey: string,
  health: Health,
  { rules: { backOffMs, reachEveryMs }, commandName }: Pick<SupervisorOptions, 'rules' | 'commandName'>,
): string {
  const attempts = backOffMs.length;
  return isAwaited(health)
    ? Texts.unreachable(serverKey, { attempts, every: duration(reachEveryMs), commandName })
    : Texts.autoDisabled(serverKey, attempts, commandName);
}

/** Compares two reasons without their numbers: times, ports and process ids differ from start to start. */
function isSameReason(one: string, other: string): boolean {
  return withoutNumbers(one) === withoutNumbers(other);
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/[\da-f]*\d[\da-f]*/giu, '#');
}
