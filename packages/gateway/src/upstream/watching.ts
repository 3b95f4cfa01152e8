import { requestLine } from '../wire/answer.ts';
import type { Era } from '../wire/era.ts';
import type { Peer } from '../wire/peer.ts';
import { atEndOfSlice, workOff } from '../wire/slices.ts';
import { encode } from '../wire/splice.ts';
import { BackOff } from './remote/back-off.ts';

export interface WatchingOptions {
  readonly era: Era;
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** For a while nobody listened: what changed meanwhile was not told. */
  missed(): void;
  /** Ends the server after a mistake of ours. */
  readonly failed: (error: Error) => void;
}

/** A list of this many bytes is sent again a millisecond later at the earliest: a list of 1 MiB once a second. */
const BYTES_PER_MS = 1024;

/** Pause before a server that has yet to read much is told of changes. */
const BEHIND_MS = 1000;

/**
 * What the gateway has asked a server to tell it about: changed lists, and resources that clients watch. A change of what
 * is watched is noted at once, and the server is told of all changes of one turn together.
 */
export class Watching {
  readonly #peer: Peer;
  readonly #options: WatchingOptions;
  readonly #watchers = new Map<string, number>();
  /** Resources that a legacy server has been told of. */
  readonly #told = new Set<string>();
  /** Resources that it may have to be told of; undefined where nothing has changed. */
  #changed: Set<string> | undefined;
  #listening: number | undefined;
  /** When a modern server may be sent the whole list again. */
  #nextListen = 0;
  #again: BackOff | undefined;
  #isDeaf = false;

  constructor(peer: Peer, options: WatchingOptions) {
    this.#peer = peer;
    this.#options = options;
    if (options.era === 'modern') this.#listen();
  }

  /** Somebody watches a resource. */
  get isAsked(): boolean {
    return this.#watchers.size > 0;
  }

  get watched(): Iterable<string> {
    return this.#watchers.keys();
  }

  watches(uri: string): boolean {
    return this.#watchers.has(uri);
  }

  /** The server is told of the first, unless that is a client whose own request does so. */
  watch(uri: string, isAsked: boolean): void {
    const watchers = this.#watchers.get(uri) ?? 0;
    this.#watchers.set(uri, watchers + 1);
    if (watchers > 0) return;
    if (isAsked) this.#told.add(uri);
    else this.#tellLater(uri);
  }

  /** False where somebody else watches it still. */
  unwatch(uri: string, isAsked: boolean): boolean {
    const watchers = this.#watchers.get(uri) ?? 0;
    if (watchers > 1) this.#watchers.set(uri, watchers - 1);
    else if (this.#watchers.delete(uri)) {
      if (isAsked) this.#told.delete(uri);
      else this.#tellLater(uri);
    }
    return watchers <= 1;
  }

  #tellLater(uri: string): void {
    if (this.#changed !== undefined) return void this.#changed.add(uri);
    this.#changed = new Set([uri]);
    const tell = (): void => this.#tell();
    const wait = this.#nextListen - Date.now();
    if (wait > 0) setTimeout(tell, wait).unref();
    else if (!atEndOfSlice(tell)) queueMicrotask(tell);
  }

  #tell(): void {
    // Clients must not end a busy server by what they watch.
    if (this.#peer.isSlow) return void setTimeout(() => this.#tell(), BEHIND_MS).unref();
    const changed = [...(this.#changed ?? [])];
    this.#changed = undefined;
    if (this.#peer.gone !== undefined) return;
    if (this.#options.era === 'modern') return this.#listen();
    workOff('watching', changed, { each: (uri) => this.#tellOf(uri), failed: this.#options.failed });
  }

  /** A legacy server is told of each resource by itself, where it does not know already. */
  #tellOf(uri: string): void {
    if (this.#peer.isSlow) return this.#tellLater(uri);
    const isWatched = this.#watchers.has(uri);
    if (isWatched === this.#told.has(uri)) return;
    if (isWatched) this.#told.add(uri);
    else this.#told.delete(uri);
    const method = isWatched ? 'resources/subscribe' : 'resources/unsubscribe';
    this.#peer.request(method, encode({ uri })).catch(() => {});
  }

  /** A modern server is told by one long request; a new wish is a new request, and the old one ends after it. */
  #listen(): void {
    const { capabilities, meta } = this.#options;
    const notifications = encode({
      ...(capabilities['tools'] !== undefined && { toolsListChanged: true }),
      ...(capabilities['prompts'] !== undefined && { promptsListChanged: true }),
      ...(capabilities['resources'] !== undefined && { resourcesListChanged: true }),
      ...(this.#watchers.size > 0 && { resourceSubscriptions: [...this.#watchers.keys()] }),
    });
    if (notifications === '{}') return;
    const before = this.#listening;
    const id = this.#peer.expect({
      isOwn: true,
      answered: ({ isError }) => !isError && this.#ended(id),
      progressed() {},
      lost: () => this.#ended(id),
    });
    this.#listening = id;
    this.#nextListen = Date.now() + notifications.length / BYTES_PER_MS;
    this.#peer.send(
      requestLine(id, 'subscriptions/listen', `{"notifications":${notifications},"_meta":{${meta}}}`),
    );
    if (before === undefined) return;
    this.#peer.forget(before);
    this.#peer.notify('notifications/cancelled', { requestId: before });
  }

  /** The server has begun to tell. */
  acknowledged(): void {
    this.#again?.reset();
    if (this.#isDeaf) this.#options.missed();
    this.#isDeaf = false;
  }

  /** A server may end what it was asked for at any time, or be out of reach; a refusal it means for good. */
  #ended(id: number): void {
    if (this.#listening !== id || this.#peer.gone !== undefined) return;
    this.#listening = undefined;
    this.#isDeaf = true;
    this.#again ??= new BackOff({ isBackground: true });
    this.#again.later(() => this.#listenAgain());
  }

  #listenAgain(): void {
    if (this.#peer.gone === undefined && this.#listening === undefined) this.#listen();
  }
}
