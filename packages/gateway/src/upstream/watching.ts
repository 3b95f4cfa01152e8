import { requestLine } from '../wire/answer.ts';
import type { Era } from '../wire/era.ts';
import type { Peer } from '../wire/peer.ts';
import { encode } from '../wire/splice.ts';
import { BackOff } from './remote/back-off.ts';

export interface WatchingOptions {
  readonly era: Era;
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** For a while nobody listened: what changed meanwhile was not told. */
  missed(): void;
}

/** What the gateway has asked a server to tell it about: changed lists, and resources that clients watch. */
export class Watching {
  readonly #peer: Peer;
  readonly #options: WatchingOptions;
  readonly #watchers = new Map<string, number>();
  #listening: number | undefined;
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

  watch(uri: string): void {
    const watchers = this.#watchers.get(uri) ?? 0;
    this.#watchers.set(uri, watchers + 1);
    if (watchers === 0) this.#tell('resources/subscribe', uri);
  }

  unwatch(uri: string): void {
    const watchers = this.#watchers.get(uri) ?? 0;
    if (watchers > 1) this.#watchers.set(uri, watchers - 1);
    else if (this.#watchers.delete(uri)) this.#tell('resources/unsubscribe', uri);
  }

  #tell(method: string, uri: string): void {
    if (this.#options.era === 'modern') return this.#listen();
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
