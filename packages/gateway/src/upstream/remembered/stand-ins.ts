import type { Log } from '../../log.ts';
import type { ChildServer } from '../child-server.ts';
import type { Roster } from '../roster.ts';
import type { Upstream } from '../upstream.ts';
import type { Catalogues } from './catalogues.ts';
import { entryHash } from './entry-hash.ts';
import type { Offering } from './remembered.ts';

export interface StandInsOptions {
  readonly roster: Roster;
  readonly state?: string;
  readonly configPath?: string;
  readonly log: Log;
  /** What the client can do, as JSON, once that is known. */
  readonly capabilities: Promise<string>;
  /** Whether servers are lazy that do not say so themselves. */
  readonly lazy?: boolean;
  /** Starts a server, unless it runs; rejects with why it does not. */
  wake(serverKey: string): Promise<Upstream>;
  /** Not one that is on its way out. */
  isCurrent(child: ChildServer): boolean;
}

/** What stands in for lazy servers while they do not run. What it takes is loaded with the first of them. */
export class StandIns {
  readonly #options: StandInsOptions;
  readonly #dormant = new Map<string, Upstream>();
  #catalogues: Promise<Catalogues> | undefined;

  constructor(options: StandInsOptions) {
    this.#options = options;
  }

  isLazy(key: string): boolean {
    return this.#options.roster.configOf(key).lazy ?? this.#options.lazy ?? false;
  }

  of(key: string): Upstream | undefined {
    return this.#dormant.get(key);
  }

  /** Of these servers the lazy ones of which is known what they offer; they need not be started. */
  async recall(keys: readonly string[]): Promise<ReadonlyMap<string, Upstream>> {
    const lazy = keys.filter((key) => this.isLazy(key));
    const found = new Map<string, Upstream>();
    if (lazy.length === 0) return found;
    const catalogues = await this.#remembered();
    // Yet another config may have come meanwhile.
    const meant = new Set(this.#options.roster.keys());
    for (const key of lazy.filter((one) => meant.has(one))) {
      const offering = catalogues.recall(key);
      if (offering !== undefined) found.set(key, await this.#standIn(key, offering));
    }
    for (const [key, standIn] of found) this.#dormant.set(key, standIn);
    return found;
  }

  /** What a lazy server offers stands in for it from now on, also at later starts. */
  async learn(child: ChildServer): Promise<void> {
    const { serverKey, era, capabilities, instructions, ownCatalogue: catalogue } = child;
    if (!this.isLazy(serverKey)) return;
    const offering = { era, capabilities, instructions, catalogue };
    const [catalogues, standIn] = await Promise.all([this.#remembered(), this.#standIn(serverKey, offering)]);
    if (!this.#options.isCurrent(child)) return;
    this.#dormant.set(serverKey, standIn);
    catalogues.learn(serverKey, offering);
  }

  /** With another config: what these offered says nothing any more, and the lock file may be another one. */
  forget(keys: readonly string[]): void {
    this.#catalogues = undefined;
    for (const key of keys) this.#dormant.delete(key);
  }

  #remembered(): Promise<Catalogues> {
    const { state, configPath, log, capabilities, roster } = this.#options;
    this.#catalogues ??= Promise.all([import('./catalogues.ts'), capabilities]).then(
      ([loaded, client]) =>
        new loaded.Catalogues({
          state,
          configPath,
          log,
          entryHash: (key) => entryHash(roster.entryOf(key)),
          capabilities: client,
        }),
    );
    return this.#catalogues;
  }

  async #standIn(serverKey: string, offering: Offering): Promise<Upstream> {
    const { Dormant } = await import('./dormant.ts');
    const options = this.#options;
    const { sharing = 'shared', cwdFromRoots: fromRoots } = options.roster.configOf(serverKey);
    const cwdFromRoots = sharing !== 'shared' && fromRoots === true;
    return new Dormant(offering, { serverKey, sharing, cwdFromRoots, wake: () => options.wake(serverKey) });
  }
}
