import type { Upstream } from '../../upstream/upstream.ts';

/** A resource that a client follows. */
export interface FollowedResource {
  /** URI under which the client asked for it. */
  readonly publicUri: string;
  /** URI that its server knows it by. */
  readonly uri: string;
  /** The present start of its server. */
  upstream: Upstream;
}

/** Levels of a URI that are looked up, and its longest length: a hostile server would have each byte looked up otherwise. */
const MOST_LEVELS = 64;
export const LONGEST_URI = 8192;

/** The resources that one client follows, found by server and URI: a server's notification costs the same however many there are. */
export class UriIndex<T extends FollowedResource> {
  /** By server and URI. Nearly all are followed once, and need no Set. */
  readonly #servers = new Map<string, Map<string, T | Set<T>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(followed: T): void {
    const { upstream, uri } = followed;
    const uris = this.#servers.get(upstream.serverKey) ?? new Map<string, T | Set<T>>();
    this.#servers.set(upstream.serverKey, uris);
    const same = uris.get(uri);
    if (same instanceof Set) same.add(followed);
    else uris.set(uri, same === undefined ? followed : new Set([same, followed]));
    this.#size++;
  }

  remove(followed: T): void {
    const { upstream, uri } = followed;
    const uris = this.#servers.get(upstream.serverKey);
    const same = uris?.get(uri);
    if (uris === undefined || !(same instanceof Set ? same.delete(followed) : same === followed)) return;
    this.#size--;
    if (!(same instanceof Set) || same.size === 0) uris.delete(uri);
    if (uris.size === 0) this.#servers.delete(upstream.serverKey);
  }

  /** Returns true where something of this server is followed. */
  has(serverKey: string): boolean {
    return this.#servers.has(serverKey);
  }

  /** All that is followed of one server. */
  *of(serverKey: string): Iterable<T> {
    for (const same of this.#servers.get(serverKey)?.values() ?? []) yield* all(same);
  }

  /** Returns the followers of exactly this resource. */
  exact(serverKey: string, uri: string): Iterable<T> {
    return all(this.#servers.get(serverKey)?.get(uri));
  }

  /** Returns the followers of a parent of this resource, because a server may report a part of what was followed. */
  *ancestors(serverKey: string, uri: string): Iterable<T> {
    const uris = this.#servers.get(serverKey);
    if (uris === undefined || uri.length > LONGEST_URI) return;
    let slash = uri.indexOf('/');
    for (let level = 0; slash >= 0 && level < MOST_LEVELS; level++) {
      yield* all(uris.get(uri.slice(0, slash)));
      if (slash + 1 < uri.length) yield* all(uris.get(uri.slice(0, slash + 1)));
      slash = uri.indexOf('/', slash + 1);
    }
  }
}

function all<T>(same: T | Set<T> | undefined): Iterable<T> {
  if (same === undefined) return [];
  return same instanceof Set ? same : [same];
}
