import type { GatewaySnapshot } from '../../call/snapshot.ts';
import { RpcError, RpcErrorCode } from '../../errors.ts';
import { Method } from '../../protocol/methods.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { Account } from '../../wire/account.ts';
import { stringValue } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import { MOST_URIS, moveToRestarted, sizeOf, tooManyFollowed, watchable } from './followed-resource.ts';
import { LONGEST_URI, UriIndex, type FollowedResource } from './uri-index.ts';

/** The resources that one legacy client follows by `resources/subscribe`. */
export class LegacySubscriptions {
  readonly #followed = new Map<string, FollowedResource>();
  readonly #uris = new UriIndex<FollowedResource>();
  readonly #account: Account;

  constructor(account: Account) {
    this.#account = account;
  }

  /** Subscribes or unsubscribes. Returns false where the server knows these methods and answers itself. */
  request({ method, params }: Message, snapshot: GatewaySnapshot): boolean | RpcError {
    const publicUri = (params && stringValue(params, 'uri')) ?? '';
    if (publicUri.length > LONGEST_URI) return tooLong();
    const target = watchable(publicUri, snapshot);
    if (target === undefined) return false;
    if (method === Method.UNSUBSCRIBE) return !this.#unfollow(publicUri, target) || usesListen(target);
    if (this.#followed.has(publicUri)) return usesListen(target);
    if (this.#followed.size >= MOST_URIS) return tooManyFollowed();
    this.#followed.set(publicUri, target);
    this.#uris.add(target);
    this.#account.charge(sizeOf(target));
    if (countsWatchers(target)) target.upstream.watch(target.uri, !usesListen(target));
    return usesListen(target);
  }

  /** Returns the URI under which the client has subscribed to a server's resource. */
  followedAs({ serverKey }: Upstream, uri: string): string | undefined {
    // In whichever conversation with the server it was told.
    const [followed] = this.#uris.exact(serverKey, uri);
    return followed?.publicUri;
  }

  /** Returns true where the client has subscribed to this resource or to a parent of it. */
  followsUri({ serverKey }: Upstream, uri: string): boolean {
    const [exact] = this.#uris.exact(serverKey, uri);
    const [above] = exact === undefined ? this.#uris.ancestors(serverKey, uri) : [exact];
    return above !== undefined;
  }

  /** Returns true where the client follows a resource of this server. */
  follows(serverKey: string): boolean {
    return this.#uris.has(serverKey);
  }

  /** Asks a restarted server for what its last start was asked to watch. */
  renew(upstream: Upstream): void {
    for (const { uri } of moveToRestarted(this.#uris, upstream))
      if (countsWatchers({ upstream })) upstream.watch(uri);
  }

  close(): void {
    for (const followed of this.#followed.values()) {
      this.#uris.remove(followed);
      if (countsWatchers(followed)) followed.upstream.unwatch(followed.uri);
    }
    this.#followed.clear();
  }

  /** Returns false where other clients have subscribed too: their server must not get the request. */
  #unfollow(publicUri: string, target: FollowedResource): boolean {
    const followed = this.#followed.get(publicUri);
    if (followed === undefined) return !countsWatchers(target) || !target.upstream.watches(target.uri);
    this.#followed.delete(publicUri);
    this.#uris.remove(followed);
    this.#account.release(sizeOf(followed));
    return !countsWatchers(followed) || followed.upstream.unwatch(followed.uri, !usesListen(followed));
  }
}

/** Returns true for a modern server, which has `subscriptions/listen` in place of `resources/subscribe`. */
function usesListen({ upstream }: Pick<FollowedResource, 'upstream'>): boolean {
  return upstream.era === 'modern';
}

/** Returns true where watchers are counted; a dedicated server has only one client. */
function countsWatchers({ upstream }: Pick<FollowedResource, 'upstream'>): boolean {
  return usesListen({ upstream }) || upstream.sharing === 'shared';
}

function tooLong(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `The URI of a subscription may have at most ${LONGEST_URI} characters.`,
  );
}
