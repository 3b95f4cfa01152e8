import type { Schedule, Timers } from '../../time/schedule.ts';
import type { UpstreamServer } from '../server.ts';
import { Skipped } from '../start/start-failure.ts';
import { ServerStatus } from '../upstream.ts';
import { nextHealth, type Health, type HealthEvent, type SupervisionRules } from './health.ts';
import { probe } from './probe.ts';

export interface SupervisedServerOptions {
  readonly timers: Timers;
  readonly schedule: Schedule;
  readonly rules: SupervisionRules;
  /** A new start of the server, which takes the place of the last one. */
  create(serverKey: string): UpstreamServer;
  /** Returns the milliseconds without use after which a server is stopped; undefined means never. */
  idleAfterMs?(serverKey: string): number | undefined;
  /** Called when the server is ready for calls. */
  ready(child: UpstreamServer): void;
  /** Called when a running server gets no more calls. */
  gone(child: UpstreamServer): void;
  /** Called when the server refuses to serve this gateway. */
  skipped(child: UpstreamServer, why: Skipped): void;
  /** Nothing of it is to run on, whether or not it runs itself: what clients have for themselves ends, too. */
  endAll(serverKey: string): void;
  changed(server: SupervisedServer, event: HealthEvent, before: Health): void;
}

/** Checks for use per idle timeout. */
const LOOKS = 5;

/** When a server was last seen to be used, and how much had been asked of it by then. */
interface Use {
  readonly asked: number;
  readonly since: number;
}

/** One server that is looked after: started again when it is lost, asked now and then whether it is there. */
export class SupervisedServer {
  readonly serverKey: string;
  readonly #options: SupervisedServerOptions;
  #child: UpstreamServer;
  #health: Health;
  /** Counts starts and stops, so that the outcome of an outdated start is ignored. */
  #turn = 0;
  /** Settles when nothing is left of the last start. */
  #cleared: Promise<unknown> = Promise.resolve();
  #isAtWork = false;
  #isDisowned = false;
  #attempting: Promise<unknown> | undefined;

  constructor(child: UpstreamServer, health: Health, options: SupervisedServerOptions) {
    this.serverKey = child.serverKey;
    this.#child = child;
    this.#health = health;
    this.#options = options;
  }

  get health(): Health {
    return this.#health;
  }

  /** From now on what is due is done. */
  begin(): void {
    this.#isAtWork = true;
    this.#plan();
  }

  /** Nothing is started before this has settled. */
  waitFor(cleared: Promise<unknown>): void {
    this.#cleared = Promise.all([this.#cleared, cleared]);
  }

  /** Stops supervising. Resolves when earlier processes have exited. */
  disown(): Promise<unknown> {
    this.#turn++;
    this.#isDisowned = true;
    for (const what of ['attempt', 'settle', 'probe', 'idle']) this.#options.schedule.cancel(this.#due(what));
    return this.#cleared;
  }

  /** Forgets earlier failures of a server that has run until the gateway ends: those of many short sessions must not add up. */
  close(): void {
    // Not kept over a restart: there was no loss in this session.
    if (this.#health.lastError === undefined) this.#apply({ type: 'settled' });
  }

  /** Resolves when it runs, or has turned out not to. One that waits for its next attempt goes on waiting. */
  async start(): Promise<void> {
    const { enabled, connectionState } = this.#health;
    if (enabled && connectionState === 'disconnected') await this.#attempt();
    else if (connectionState === 'connecting') await this.#attempting;
  }

  /** Its first start, which others see to, has begun; the promise resolves when it is over. */
  starting(start: Promise<unknown>): void {
    this.#attempting = start;
    this.#apply({ type: 'connecting' });
  }

  connected(child: UpstreamServer): void {
    if (child !== this.#child || child.status !== ServerStatus.RUNNING) return;
    this.#apply({ type: 'connected' });
    this.#probeLater();
    this.#watchIdle({ asked: child.usage.asked, since: this.#options.timers.now() });
  }

  lost(child: UpstreamServer, reason: string): void {
    // One that was told to end has not failed, also where it was told so while it started.
    if (child !== this.#child || child.status === ServerStatus.STOPPED) return;
    this.#turn++;
    this.#clear(child);
    this.#apply({ type: 'lost', reason, isUnreachable: child.isUnreachable });
  }

  /** Resolves when it runs, or has turned out not to. */
  async enable(): Promise<void> {
    this.#apply({ type: 'enabled' });
    await this.start();
  }

  /** Resolves when it has ended. */
  async disable(): Promise<void> {
    this.#options.endAll(this.serverKey);
    this.#stop('has been disabled');
    this.#apply({ type: 'disabled' });
    await this.#cleared;
  }

  /** Ends it until it is started again. */
  pause(what: string): void {
    this.#stop(what);
    this.#apply({ type: 'stopped' });
  }

  /** Ends it and starts it anew. */
  async restart(): Promise<void> {
    this.#options.endAll(this.serverKey);
    this.pause('is being restarted');
    await this.#attempt();
  }

  #stop(what: string): void {
    const child = this.#child;
    const wasRunning = child.status === ServerStatus.RUNNING;
    this.#turn++;
    this.#clear(child, what);
    if (wasRunning) this.#options.gone(child);
  }

  #clear(child: UpstreamServer, what?: string): void {
    this.#cleared = Promise.all([this.#cleared, child.retire(what)?.stop()]);
  }

  async #attempt(): Promise<void> {
    this.#attempting = this.#tryStart();
    await this.#attempting;
  }

  async #tryStart(): Promise<void> {
    const turn = ++this.#turn;
    this.#apply({ type: 'connecting' });
    // Two of them at once might quarrel over a port or a file.
    await this.#cleared;
    if (turn !== this.#turn || this.#options.schedule.isStopped) return;
    const child = this.#options.create(this.serverKey);
    this.#child = child;
    try {
      await child.start();
    } catch (error) {
      if (error instanceof Skipped) return this.#options.skipped(child, error);
      return this.lost(child, (error as Error).message);
    }
    if (turn !== this.#turn || child.status !== ServerStatus.RUNNING) return;
    this.connected(child);
    this.#options.ready(child);
  }

  #apply(event: HealthEvent): void {
    const { timers, rules, schedule } = this.#options;
    // A server that ends with the gateway has not failed.
    if (schedule.isStopped || this.#isDisowned) return;
    const before = this.#health;
    this.#health = nextHealth(before, event, { at: timers.now(), rules });
    if (this.#health === before) return;
    this.#plan();
    this.#options.changed(this, event, before);
  }

  /** Schedules the next attempt and the end of the retry state. */
  #plan(): void {
    if (!this.#isAtWork || this.#isDisowned) return;
    const { schedule, rules } = this.#options;
    const { nextRetryAt, connectionState, isRetrying, lastConnectedAt = 0 } = this.#health;
    const isUp = connectionState === 'connected';
    const settledAt = isUp && isRetrying ? lastConnectedAt + rules.settledAfterMs : undefined;
    schedule.set(this.#due('attempt'), nextRetryAt, () => void this.#attempt());
    schedule.set(this.#due('settle'), settledAt, () => this.#apply({ type: 'settled' }));
    if (!isUp) for (const what of ['probe', 'idle']) schedule.cancel(this.#due(what));
  }

  #probeLater(): void {
    if (this.#isDisowned) return;
    const { timers, schedule, rules } = this.#options;
    schedule.set(this.#due('probe'), timers.now() + rules.probeEveryMs, () => this.#probe());
  }

  /** Looks now and then whether it is used, and ends it where it was not for long enough. */
  #watchIdle({ asked, since }: Use): void {
    const { timers, schedule } = this.#options;
    const idleMs = this.#options.idleAfterMs?.(this.serverKey);
    if (idleMs === undefined || this.#isDisowned) return;
    const child = this.#child;
    schedule.set(this.#due('idle'), timers.now() + Math.ceil(idleMs / LOOKS), () => {
      const { usage } = child;
      const isUsed = usage.isInUse || usage.asked !== asked;
      const use = isUsed ? { asked: usage.asked, since: timers.now() } : { asked, since };
      if (timers.now() - use.since >= idleMs) this.pause('was stopped because no client used it');
      else this.#watchIdle(use);
    });
  }

  #probe(): void {
    const child = this.#child;
    const { timers, schedule, rules } = this.#options;
    if (child.conversation === undefined) return;
    probe(child.conversation, {
      name: this.#due('probe'),
      timers,
      schedule,
      rules,
      answered: (latency) => {
        if (child !== this.#child) return;
        this.#apply({ type: 'pinged', latency });
        this.#probeLater();
      },
      lost: (reason) => child.giveUpOn(reason),
      unclear: () => this.#probeLater(),
    });
  }

  #due(what: string): string {
    return `${this.serverKey} ${what}`;
  }
}
