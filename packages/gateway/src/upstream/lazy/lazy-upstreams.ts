import type { Log } from '../../log.ts';
import type { Stores } from '../../state/stores.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { DesiredServers } from '../fleet/desired-servers.ts';
import { sharingOf } from '../pool/instances.ts';
import type { UpstreamServer } from '../server.ts';
import type { Upstream } from '../upstream.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';
import { Catalogues } from './catalogues.ts';
import { LazyUpstream } from './lazy-upstream.ts';

export interface LazyUpstreamsOptions {
  readonly desired: DesiredServers;
  readonly stores: Pick<Stores, 'catalogues'>;
  readonly configPath?: string;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Default for servers whose entry does not set `lazy`. */
  readonly lazy?: boolean;
  /** Clients wait for servers that start, instead of reading what is remembered of them. */
  readonly waits: boolean;
  /** Starts a server, unless it runs; rejects with why it does not. */
  wake(serverKey: string): Promise<Upstream>;
}

/** Placeholders of servers that do not run: of lazy ones until their first call, of others while they start. */
export class LazyUpstreams {
  readonly #options: LazyUpstreamsOptions;
  readonly #lazyUpstreams = new Map<string, Upstream>();
  /** Lazy servers whose placeholder has the lists for this client. */
  readonly #asleep = new Set<string>();
  readonly #catalogues: Catalogues;

  constructor(options: LazyUpstreamsOptions) {
    const { stores, configPath, log, commandName, desired } = options;
    this.#options = options;
    this.#catalogues = new Catalogues({
      store: stores.catalogues,
      configPath,
      log,
      commandName,
      entryHash: (key) => desired.entryHash(key),
    });
  }

  /** Reads the lock file and what earlier starts have kept. Nothing can be recalled before. */
  load(): Promise<void> {
    return this.#catalogues.load();
  }

  isLazy(key: string): boolean {
    return this.#options.desired.configOf(key).lazy ?? this.#options.lazy ?? false;
  }

  /** Returns true for a server that need not be started before it is called. */
  isAsleep(key: string): boolean {
    return this.#asleep.has(key);
  }

  of(key: string): Upstream | undefined {
    return this.#lazyUpstreams.get(key);
  }

  /** Returns the cached lists of a server, with or without a placeholder. */
  listsOf(key: string): Catalogue | undefined {
    return (this.of(key) ?? this.#catalogues.recall(key)?.snapshot)?.catalogue;
  }

  /** Recalls and keeps what servers offer to a client that can do this, from now on. */
  serve(capabilities: string): void {
    this.#catalogues.serve(capabilities);
  }

  /** Recalls what these servers offer. */
  recall(keys: readonly string[]): void {
    const { waits } = this.#options;
    for (const key of keys) {
      const isLazy = this.isLazy(key);
      if (waits && !isLazy) continue;
      const { snapshot, isForClient = false } = this.#catalogues.recall(key) ?? {};
      const isAsleep = isLazy && isForClient;
      if (snapshot === undefined || (waits && !isAsleep)) continue;
      this.#lazyUpstreams.set(key, this.#create(key, snapshot));
      if (isAsleep) this.#asleep.add(key);
      else this.#asleep.delete(key);
    }
  }

  /** Caches the catalogue of a running server. For a lazy server, creates the placeholder from it. */
  learn(child: UpstreamServer): void {
    const { serverKey } = child;
    const snapshot = snapshotOf(child);
    if (this.isLazy(serverKey)) {
      this.#lazyUpstreams.set(serverKey, this.#create(serverKey, snapshot));
      this.#asleep.add(serverKey);
    } else this.#lazyUpstreams.delete(serverKey);
    this.#catalogues.learn(serverKey, snapshot);
  }

  /** Creates a placeholder from the lists of a running server, for the time of its restart. */
  createPlaceholder(child: UpstreamServer): void {
    this.#lazyUpstreams.set(child.serverKey, this.#create(child.serverKey, snapshotOf(child)));
  }

  /** Removes and returns the placeholder of a server that has failed to start, unless it is lazy. */
  giveUp(key: string): Upstream | undefined {
    const lazyUpstream = this.isLazy(key) ? undefined : this.#lazyUpstreams.get(key);
    if (lazyUpstream !== undefined) this.#lazyUpstreams.delete(key);
    return lazyUpstream;
  }

  /** Removes the placeholders of servers whose entries have changed or are gone. */
  forget(keys: readonly string[]): void {
    for (const key of keys) {
      this.#lazyUpstreams.delete(key);
      this.#asleep.delete(key);
    }
  }

  /** Resolves when all that has been learnt is written, or cannot be. */
  flush(): Promise<void> {
    return this.#catalogues.flush();
  }

  #create(serverKey: string, snapshot: CatalogueSnapshot): Upstream {
    const options = this.#options;
    return new LazyUpstream(snapshot, {
      serverKey,
      ...sharingOf(options.desired.configOf(serverKey)),
      wake: () => options.wake(serverKey),
    });
  }
}

function snapshotOf({ era, capabilities, instructions, catalogue }: Upstream): CatalogueSnapshot {
  return { era, capabilities, instructions, catalogue };
}
