import type { Log } from '../../log.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { DesiredServers } from '../desired-servers.ts';
import type { UpstreamServer } from '../server.ts';
import type { Upstream } from '../upstream.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';
import { Catalogues } from './catalogues.ts';
import { entryHash } from './entry-hash.ts';
import { LazyUpstream } from './lazy-upstream.ts';

export interface LazyUpstreamsOptions {
  readonly desired: DesiredServers;
  readonly state?: string;
  readonly configPath?: string;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Whether servers are lazy that do not say so themselves. */
  readonly lazy?: boolean;
  /** Clients wait for servers that start, instead of reading what is remembered of them. */
  readonly waits: boolean;
  /** Starts a server, unless it runs; rejects with why it does not. */
  wake(serverKey: string): Promise<Upstream>;
}

/** What stands in for servers that do not run: for lazy ones until they are called, for the others while they start. */
export class LazyUpstreams {
  readonly #options: LazyUpstreamsOptions;
  readonly #lazyUpstreams = new Map<string, Upstream>();
  /** The lazy servers whose stand-in is what they offer to this client. */
  readonly #asleep = new Set<string>();
  #capabilities = '{}';
  #catalogues: Catalogues | undefined;

  constructor(options: LazyUpstreamsOptions) {
    this.#options = options;
  }

  isLazy(key: string): boolean {
    return this.#options.desired.configOf(key).lazy ?? this.#options.lazy ?? false;
  }

  /** Need not be started before it is called. */
  isAsleep(key: string): boolean {
    return this.#asleep.has(key);
  }

  of(key: string): Upstream | undefined {
    return this.#lazyUpstreams.get(key);
  }

  /** What a server is remembered to list, whether or not that stands in for it. */
  listsOf(key: string): Catalogue | undefined {
    return (this.of(key) ?? this.#remembered().recall(key)?.snapshot)?.catalogue;
  }

  /** Recalls and keeps what servers offer to a client that can do this, from now on. */
  serve(capabilities: string): void {
    if (this.#capabilities === capabilities) return;
    this.forget([]);
    this.#capabilities = capabilities;
  }

  /** Recalls what these servers offer. */
  recall(keys: readonly string[]): void {
    const { waits } = this.#options;
    for (const key of keys) {
      const isLazy = this.isLazy(key);
      if (waits && !isLazy) continue;
      const { snapshot, isForClient = false } = this.#remembered().recall(key) ?? {};
      const isAsleep = isLazy && isForClient;
      if (snapshot === undefined || (waits && !isAsleep)) continue;
      this.#lazyUpstreams.set(key, this.#create(key, snapshot));
      if (isAsleep) this.#asleep.add(key);
      else this.#asleep.delete(key);
    }
  }

  /** Keeps what a server offers that runs. It stands in for a lazy server from now on. */
  learn(child: UpstreamServer): void {
    const { serverKey } = child;
    const snapshot = snapshotOf(child);
    if (this.isLazy(serverKey)) {
      this.#lazyUpstreams.set(serverKey, this.#create(serverKey, snapshot));
      this.#asleep.add(serverKey);
    } else this.#lazyUpstreams.delete(serverKey);
    this.#remembered().learn(serverKey, snapshot);
  }

  /** Lets the lists of a server that runs stand in for it until its next start is over. */
  standIn(child: UpstreamServer): void {
    this.#lazyUpstreams.set(child.serverKey, this.#create(child.serverKey, snapshotOf(child)));
  }

  /** A server has failed to start: nothing stands in for it any more, unless it is lazy. Returns what did. */
  giveUp(key: string): Upstream | undefined {
    const lazyUpstream = this.isLazy(key) ? undefined : this.#lazyUpstreams.get(key);
    if (lazyUpstream !== undefined) this.#lazyUpstreams.delete(key);
    return lazyUpstream;
  }

  /** With another config: what these offered says nothing any more, and the lock file may be another one. */
  forget(keys: readonly string[]): void {
    this.#catalogues?.flush();
    this.#catalogues = undefined;
    for (const key of keys) {
      this.#lazyUpstreams.delete(key);
      this.#asleep.delete(key);
    }
  }

  /** Writes what has been learnt. */
  flush(): void {
    this.#catalogues?.flush();
  }

  #remembered(): Catalogues {
    const { state, configPath, log, commandName, desired } = this.#options;
    this.#catalogues ??= new Catalogues({
      state,
      configPath,
      log,
      commandName,
      capabilities: this.#capabilities,
      entryHash: (key) => (desired.has(key) ? entryHash(desired.entryOf(key)) : undefined),
    });
    return this.#catalogues;
  }

  #create(serverKey: string, snapshot: CatalogueSnapshot): Upstream {
    const options = this.#options;
    const { sharing = 'shared', cwdFromRoots: fromRoots } = options.desired.configOf(serverKey);
    const cwdFromRoots = sharing !== 'shared' && fromRoots === true;
    return new LazyUpstream(snapshot, {
      serverKey,
      sharing,
      cwdFromRoots,
      wake: () => options.wake(serverKey),
    });
  }
}

function snapshotOf({ era, capabilities, instructions, catalogue }: Upstream): CatalogueSnapshot {
  return { era, capabilities, instructions, catalogue };
}
