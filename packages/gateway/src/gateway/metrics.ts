import type { FinalStatus } from '../call/history/invocation.ts';
import type { Gateway } from './gateway.ts';

/** Upper bounds of the latency histogram, in seconds; the history measures whole milliseconds. */
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The states of a server, one of which is 1. */
const STATES = ['connected', 'connecting', 'disconnected', 'error', 'disabled'] as const;

interface ServerCounters {
  readonly calls: Record<FinalStatus, number>;
  /** Calls per bucket, not cumulated; the last one counts those above all bounds. */
  readonly durations: number[];
  seconds: number;
  starts: number;
}

/** Counts calls and restarts per server, and writes them in the text format of Prometheus. Its labels come from the config alone. */
export class Metrics {
  readonly #gateway: Gateway;
  readonly #counters = new Map<string, ServerCounters>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    gateway.history.onEnded = (serverKey, status, milliseconds) => {
      const counters = this.#of(serverKey);
      if (counters === undefined) return;
      counters.calls[status]++;
      counters.seconds += milliseconds / 1000;
      const bucket = BUCKETS.findIndex((bound) => milliseconds <= bound * 1000);
      const at = bucket < 0 ? BUCKETS.length : bucket;
      counters.durations[at] = (counters.durations[at] ?? 0) + 1;
    };
    gateway.subscribe(
      (event) => {
        const counters = event.type === 'server-connected' ? this.#of(event.serverKey) : undefined;
        if (counters !== undefined) counters.starts++;
      },
      ['server-connected'],
    );
  }

  /** Returns all metrics; counters of servers that the config has lost are dropped. */
  text(): string {
    const { children } = this.#gateway;
    for (const serverKey of this.#counters.keys())
      if (!children.has(serverKey)) this.#counters.delete(serverKey);
    const servers = [...children].map(([serverKey, server]) => ({
      label: `server="${escapeLabel(serverKey)}"`,
      serverKey,
      inFlight: server.usage.inFlight,
      counters: this.#of(serverKey) ?? newCounters(),
    }));
    const states = new Map(this.#gateway.reports().map((report) => [report.serverKey, stateOf(report)]));
    return [
      ...metric('weir_calls_total', 'counter', 'Tool calls that ended, by outcome.'),
      ...servers.flatMap(({ label, counters }) =>
        Object.entries(counters.calls).map(
          ([outcome, n]) => `weir_calls_total{${label},outcome="${outcome}"} ${n}`,
        ),
      ),
      ...metric('weir_call_duration_seconds', 'histogram', 'Time from sending a tool call to its end.'),
      ...servers.flatMap(({ label, counters }) => histogram(label, counters)),
      ...metric('weir_requests_in_flight', 'gauge', 'Requests that are running on a server.'),
      ...servers.map(({ label, inFlight }) => `weir_requests_in_flight{${label}} ${inFlight}`),
      ...metric('weir_server_restarts_total', 'counter', 'Restarts of a server.'),
      ...servers.map(
        ({ label, counters }) => `weir_server_restarts_total{${label}} ${Math.max(0, counters.starts - 1)}`,
      ),
      ...metric('weir_server_state', 'gauge', 'State of a server: 1 for the current one.'),
      ...servers.flatMap(({ label, serverKey }) =>
        STATES.map(
          (state) =>
            `weir_server_state{${label},state="${state}"} ${states.get(serverKey) === state ? 1 : 0}`,
        ),
      ),
      '',
    ].join('\n');
  }

  /** Returns undefined for a key that the config does not have, so that a hostile client cannot create labels. */
  #of(serverKey: string): ServerCounters | undefined {
    const known = this.#counters.get(serverKey);
    if (known !== undefined || !this.#gateway.children.has(serverKey)) return known;
    const counters = newCounters();
    this.#counters.set(serverKey, counters);
    return counters;
  }
}

function newCounters(): ServerCounters {
  return { calls: { success: 0, error: 0, timeout: 0, cancelled: 0 }, durations: [], seconds: 0, starts: 0 };
}

function metric(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function histogram(label: string, { durations, seconds }: ServerCounters): string[] {
  const name = 'weir_call_duration_seconds';
  let count = 0;
  const buckets = [...BUCKETS, '+Inf'].map((bound, at) => {
    count += durations[at] ?? 0;
    return `${name}_bucket{${label},le="${bound}"} ${count}`;
  });
  return [...buckets, `${name}_sum{${label}} ${seconds}`, `${name}_count{${label}} ${count}`];
}

function stateOf({
  enabled,
  autoDisabled,
  health,
}: ReturnType<Gateway['reports']>[number]): (typeof STATES)[number] {
  return enabled && !autoDisabled ? health.connectionState : 'disabled';
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
