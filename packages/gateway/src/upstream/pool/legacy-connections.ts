import { now as systemNow } from '../../time/clock.ts';
import type { Upstream } from '../upstream.ts';
import type { DedicatedServer } from './instances.ts';

/** Opens a legacy session with a server; undefined where the server offers none. */
export type OpenLegacyConnection = (server: Upstream) => Promise<DedicatedServer | undefined>;

/** A legacy session that ends sooner counts as failed. */
const SETTLED_MS = 30_000;
/** After so many failures in a row, legacy clients use the shared connection, which is supervised. */
const MOST_FAILURES = 3;

interface Pair {
  opened: Promise<Upstream | undefined> | undefined;
  running: Upstream | undefined;
  since: number;
  failures: number;
  /** True where the server offers no legacy session, or its sessions keep failing. */
  isSingle: boolean;
}

/**
 * Many servers speak both eras, and some can do more in the legacy one, as long as they keep a session.
 * Legacy clients share a second session with such a server, so that nothing has to be translated for them.
 */
export class LegacyConnections {
  readonly #open: OpenLegacyConnection;
  readonly #now: () => number;
  /** Keyed by start of a server, because the next start may offer another legacy session, or none. */
  readonly #pairs = new Map<Upstream, Pair>();

  constructor(open: OpenLegacyConnection, now: () => number = systemNow) {
    this.#open = open;
    this.#now = now;
  }

  get running(): Upstream[] {
    return [...this.#pairs.values()].flatMap(({ running }) => running ?? []);
  }

  mayHave(server: Upstream): boolean {
    return this.#pairs.get(server)?.isSingle !== true;
  }

  /** The one that runs, or is about to; after its end another one, unless there were too many. */
  async of(server: Upstream): Promise<Upstream | undefined> {
    if (server.peer.gone !== undefined) return undefined;
    const pair = this.#pairs.get(server) ?? this.#enter(server);
    // The event of its end may be still to come.
    if (pair.running?.peer.gone !== undefined) this.#ended(pair, pair.running);
    if (pair.isSingle) return undefined;
    pair.opened ??= this.#begin(server, pair);
    return pair.opened;
  }

  /** The server is gone. */
  forget(server: Upstream): void {
    this.#pairs.delete(server);
  }

  #enter(server: Upstream): Pair {
    const pair: Pair = { opened: undefined, running: undefined, since: 0, failures: 0, isSingle: false };
    this.#pairs.set(server, pair);
    return pair;
  }

  async #begin(server: Upstream, pair: Pair): Promise<Upstream | undefined> {
    // Clients use the shared connection after any failure.
    const legacyConnection = await this.#open(server).catch(() => undefined);
    pair.running = legacyConnection?.upstream;
    pair.since = this.#now();
    pair.isSingle = legacyConnection === undefined;
    void legacyConnection?.ended.then(() => this.#ended(pair, legacyConnection.upstream));
    return pair.running;
  }

  #ended(pair: Pair, legacyConnection: Upstream): void {
    if (pair.running !== legacyConnection) return;
    pair.running = undefined;
    pair.opened = undefined;
    pair.failures = this.#now() - pair.since < SETTLED_MS ? pair.failures + 1 : 0;
    pair.isSingle = pair.failures >= MOST_FAILURES;
  }
}
