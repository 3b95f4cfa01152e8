import type { Timers } from '../time/schedule.ts';
import type { ServerHealthStatus } from '../upstream/supervision/health.ts';
import type { ServerEvent } from '../upstream/supervision/supervisor.ts';

/** Longest wait of a call for a restart, whatever happens to the server. */
const LONGEST_WAIT_MS = 60_000;

interface Wait {
  readonly wasSent: boolean;
  /** The attempt that is waited for has begun: if it fails, there is no other. */
  isTried: boolean;
  settle(isBack: boolean): void;
  callOff(): void;
}

/** Calls that wait for a lost server to run again. */
export class RestartWaiters {
  readonly #statusOf: (serverKey: string) => ServerHealthStatus | undefined;
  readonly #timers: Timers;
  readonly #waits = new Map<string, Set<Wait>>();

  constructor(statusOf: (serverKey: string) => ServerHealthStatus | undefined, timers: Timers) {
    this.#statusOf = statusOf;
    this.#timers = timers;
  }

  /** Resolves with true when the next start of a server succeeds. `wasSent`: the server may have died of this call. */
  wait(serverKey: string, wasSent: boolean): Promise<boolean> {
    const status = this.#statusOf(serverKey);
    if (status === undefined || status.autoDisabledAt !== undefined) return Promise.resolve(false);
    // A disconnected server was not lost, so there is no restart to wait for.
    if (status.connectionState === 'disconnected') return Promise.resolve(true);
    return new Promise((resolve) => {
      const isTried = status.connectionState === 'connecting';
      const waits = this.#waits.get(serverKey) ?? new Set();
      const wait: Wait = { wasSent, isTried, settle: resolve, callOff: () => {} };
      wait.callOff = this.#timers.later(LONGEST_WAIT_MS, () => {
        waits.delete(wait);
        resolve(false);
      });
      waits.add(wait);
      this.#waits.set(serverKey, waits);
    });
  }

  serverChanged({ type, serverKey }: Pick<ServerEvent, 'type' | 'serverKey'>): void {
    const waits = [...(this.#waits.get(serverKey) ?? [])];
    if (type === 'server-connecting') for (const wait of waits) wait.isTried = true;
    else if (type === 'server-auto-disabled' || type === 'server-disabled')
      this.#settle(serverKey, () => false);
    else if (type === 'server-lost' && waits.some(({ isTried }) => isTried))
      this.#settle(serverKey, () => false);
  }

  /** A server can be called. */
  ready(serverKey: string): void {
    this.#settle(serverKey, ({ wasSent }) => !wasSent || !this.#isLastAttempt(serverKey));
  }

  /** The servers that there are by now; no other comes back. */
  setServers(servers: { has(serverKey: string): boolean }): void {
    for (const serverKey of this.#waits.keys())
      if (!servers.has(serverKey)) this.#settle(serverKey, () => false);
  }

  /** Ends all waits with false. */
  close(): void {
    for (const serverKey of this.#waits.keys()) this.#settle(serverKey, () => false);
  }

  /** Returns true before the attempt whose failure disables the server: a call that kills it must not disable it for all clients. */
  #isLastAttempt(serverKey: string): boolean {
    const status = this.#statusOf(serverKey);
    return (
      status !== undefined &&
      status.retryState.currentAttempt >= status.retryState.backoffIntervals.length - 1
    );
  }

  #settle(serverKey: string, isBack: (wait: Wait) => boolean): void {
    const waits = this.#waits.get(serverKey) ?? [];
    this.#waits.delete(serverKey);
    for (const wait of waits) {
      wait.callOff();
      wait.settle(isBack(wait));
    }
  }
}
