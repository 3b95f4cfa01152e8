import { resolveUri } from '../../call/resolve.ts';
import type { GatewaySnapshot } from '../../call/snapshot.ts';
import { RpcError, RpcErrorCode } from '../../errors.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { decode } from '../../wire/json/splice.ts';
import { LONGEST_URI, type FollowedResource, type UriIndex } from './uri-index.ts';

/** Resources that one `subscriptions/listen` request may name, and that a legacy client may subscribe to. */
export const MOST_URIS = 10_000;
/** Bytes that a followed resource costs beside its URIs. */
const ENTRY_BYTES = 300;

/** Returns the resource of a server that can be asked to watch it. */
export function watchable(publicUri: string, snapshot: GatewaySnapshot): FollowedResource | undefined {
  if (publicUri.length > LONGEST_URI) return undefined;
  const target = resolveUri(snapshot, publicUri);
  if (target instanceof RpcError || !canWatch(target.upstream)) return undefined;
  return { publicUri, upstream: target.upstream, uri: decode(target.originalText) };
}

/** Moves what was followed at a server's last start to this one, and returns it. */
export function moveToRestarted(index: UriIndex<FollowedResource>, upstream: Upstream): FollowedResource[] {
  if (!canWatch(upstream)) return [];
  const own = [...index.of(upstream.serverKey)].filter((followed) => followed.upstream !== upstream);
  for (const followed of own) followed.upstream = upstream;
  return own;
}

/** Returns the bytes that the account of its client is charged for it. */
export function sizeOf({ publicUri, uri }: FollowedResource): number {
  return publicUri.length + uri.length + ENTRY_BYTES;
}

export function tooManyFollowed(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `Too many subscriptions: a modern client may follow ${MOST_URIS} resources or tasks in one request, a legacy client in all. End some of them.`,
  );
}

function canWatch({ capabilities }: Upstream): boolean {
  return (capabilities['resources'] as { subscribe?: unknown } | undefined)?.subscribe === true;
}
