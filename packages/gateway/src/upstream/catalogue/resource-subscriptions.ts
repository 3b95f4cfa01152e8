import type { Era } from '../../protocol/eras.ts';
import { Method } from '../../protocol/methods.ts';
import { BackOff } from '../../time/back-off.ts';
import { within } from '../../time/timeouts.ts';
import { requestLine } from '../../wire/answer.ts';
import { encode } from '../../wire/json/splice.ts';
import type { Peer } from '../../wire/peer.ts';
import { atEndOfSlice } from '../../wire/slices.ts';

export interface ResourceSubscriptionsOptions {
  readonly era: Era;
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The subscription was interrupted, and changes may have been missed. */
  missed(): void;
}

/** A list of this many bytes is sent again a millisecond later at the earliest: a list of 1 MiB once a second. */
const BYTES_PER_MS = 1024;

/**
 * Requests about single resources that a legacy server may have to answer at once. Calls of other clients wait behind them, and
 * one client may watch thousands of resources.
 */
const MOST_UNANSWERED = 16;
/** Milliseconds after which such a request counts as answered: some servers never do. */
const ANSWER_TIMEOUT_MS = 1000;

/** Pause before a server that has yet to read much is told of changes. */
const BEHIND_MS = 1000;

/**
 * Subscriptions at a server: changed lists, and resources that clients watch. A change of what
 * is watched is noted at once, and the server is told of all changes of one turn together.
 */
export class ResourceSubscriptions {
  readonly #peer: Peer;
  readonly #options: ResourceSubscriptionsOptions;
  readonly #watchers = new Map<string, number>();
  /** Resources that a legacy server has been told of. */
  readonly #told = new Set<string>();
  /** Resources that it has to be told of. */
  readonly #changed = new Set<string>();
  #isScheduled = false;
  #unanswered = 0;
  #listening: number | undefined;
  /** When a modern server may be sent the whole list again. */
  #nextListen = 0;
  #again: BackOff | undefined;
  #isDeaf = false;

  constructor(peer: Peer, options: ResourceSubscriptionsOptions) {
    this.#peer = peer;
    this.#options = options;
    if (options.era === 'modern') this.#listen();
  }

  /** True while a client watches a resource. */
  get isAsked(): boolean {
    return this.#watchers.size > 0;
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

  /** Returns false where another client still watches it. */
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
    // A resource that was watched for too short a time to be told of has not changed.
    if (this.#options.era === 'legacy' && this.#watchers.has(uri) === this.#told.has(uri))
      this.#changed.delete(uri);
    else this.#changed.add(uri);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const tell = (): void => this.#tell();
    const wait = this.#nextListen - Date.now();
    if (wait > 0) setTimeout(tell, wait).unref();
    else if (!atEndOfSlice(tell)) queueMicrotask(tell);
  }

  #tell(): void {
    // Clients must not end a busy server by what they watch.
    if (this.#peer.isSlow) return void setTimeout(() => this.#tell(), BEHIND_MS).unref();
    this.#isScheduled = false;
    if (this.#peer.gone !== undefined) return;
    if (this.#options.era === 'legacy') return this.#tellOfEach();
    this.#changed.clear();
    this.#listen();
  }

  /** A legacy server is told of each resource by itself. */
  #tellOfEach(): void {
    for (const uri of this.#changed) {
      if (this.#unanswered === MOST_UNANSWERED) return;
      this.#changed.delete(uri);
      this.#tellOf(uri);
    }
  }

  #tellOf(uri: string): void {
    const isWatched = this.#watchers.has(uri);
    // A client's own request may have told it meanwhile.
    if (isWatched === this.#told.has(uri)) return;
    if (isWatched) this.#told.add(uri);
    else this.#told.delete(uri);
    const method = isWatched ? Method.SUBSCRIBE : Method.UNSUBSCRIBE;
    const goOn = (): void => {
      this.#unanswered--;
      if (this.#changed.size > 0) this.#schedule();
    };
    this.#unanswered++;
    within(ANSWER_TIMEOUT_MS, this.#peer.request(method, encode({ uri }))).then(goOn, goOn);
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
    const id = this.#peer.onResponse({
      isOwn: true,
      answered: ({ isError }) => !isError && this.#ended(id),
      progressed() {},
      lost: () => this.#ended(id),
    });
    this.#listening = id;
    this.#nextListen = Date.now() + notifications.length / BYTES_PER_MS;
    this.#peer.send(requestLine(id, Method.LISTEN, `{"notifications":${notifications},"_meta":{${meta}}}`));
    if (before === undefined) return;
    this.#peer.forget(before);
    this.#peer.notify(Method.CANCELLED, { requestId: before });
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
    this.#again.schedule(() => this.#listenAgain());
  }

  #listenAgain(): void {
    if (this.#peer.gone === undefined && this.#listening === undefined) this.#listen();
  }
}
