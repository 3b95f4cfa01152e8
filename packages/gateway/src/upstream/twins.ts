import type { Upstream } from './upstream.ts';

/** Opens a second conversation with a server, in the way of the earlier revisions; undefined where it has none to offer. */
export type OpenTwin = (serverKey: string) => Promise<Upstream | undefined>;

/**
 * Many servers at an address speak both ways, and some can do more in the older one, as long as they keep a session.
 * Clients of the earlier revisions share a second conversation with such a server: nothing has to be translated for them.
 */
export class Twins {
  readonly #open: OpenTwin;
  readonly #opened = new Map<string, Promise<Upstream | undefined>>();
  readonly #running = new Map<string, Upstream>();
  /** Servers that have turned out to have none. */
  readonly #single = new Set<string>();

  constructor(open: OpenTwin) {
    this.#open = open;
  }

  get running(): Iterable<Upstream> {
    return this.#running.values();
  }

  mayHave(serverKey: string): boolean {
    return !this.#single.has(serverKey);
  }

  of(serverKey: string): Promise<Upstream | undefined> {
    const opened = this.#opened.get(serverKey) ?? this.#begin(serverKey);
    this.#opened.set(serverKey, opened);
    return opened;
  }

  /** The server is gone: what comes in its place may have another twin, or none. */
  forget(serverKey: string): void {
    this.#opened.delete(serverKey);
    this.#running.delete(serverKey);
    this.#single.delete(serverKey);
  }

  async #begin(serverKey: string): Promise<Upstream | undefined> {
    // Whatever the reason: what all clients share is there for them.
    const twin = await this.#open(serverKey).catch(() => undefined);
    if (twin === undefined) this.#single.add(serverKey);
    else this.#running.set(serverKey, twin);
    return twin;
  }
}
