import { RpcError } from '../errors.ts';
import { resolveUri, type Directory } from '../call/resolve.ts';
import type { ListName } from '../gateway.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { notificationLine, resultLine } from '../wire/answer.ts';
import { Meta } from '../wire/era.ts';
import type { Message } from '../wire/message.ts';
import type { Peer, Served } from '../wire/peer.ts';
import { changeMembers, encode, splice, type Edit } from '../wire/splice.ts';

/** What a client wants to hear of, as the request says it. */
interface Filter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
}

interface Subscription extends Served {
  readonly filter: Filter;
  readonly watched: ReadonlyMap<string, Watched>;
}

interface Watched {
  readonly upstream: Upstream;
  readonly uri: string;
}

const FILTER_KEYS = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const;

/** The `subscriptions/listen` requests that a modern client has open. */
export class Subscriptions {
  readonly #peer: Peer;
  readonly #open = new Map<string, Subscription>();

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens one: what is honoured is told first, and the request stays open until it is cancelled. */
  listen(message: Message, directory: Directory): void {
    const { id } = message;
    const filter = readFilter(message);
    const watched = watchedUris(filter.resourceSubscriptions ?? [], directory);
    const end = (): void => this.#end(id);
    const subscription = { filter, watched, cancel: end, abandon: end };
    this.#open.set(id, subscription);
    this.#peer.serve(id, subscription);
    for (const { upstream, uri } of watched.values()) upstream.watch(uri);
    const honoured = { ...filter, ...(filter.resourceSubscriptions && { resourceSubscriptions: [...watched.keys()] }) };
    this.#peer.send(notificationLine('notifications/subscriptions/acknowledged', `{"notifications":${encode(honoured)},"_meta":${tag(id)}}`));
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    for (const [id, { filter }] of this.#open) {
      for (const list of lists) {
        if (filter[FILTER_KEYS[list]] === true) {
          this.#peer.send(notificationLine(`notifications/${list}/list_changed`, `{"_meta":${tag(id)}}`));
        }
      }
    }
  }

  /** Passes on that a resource has changed, to those who asked for it under its public URI. */
  updated(publicUri: string, { bytes, params, meta }: Message, uriEdits: readonly Edit[]): void {
    if (params === undefined) return;
    for (const [id, { watched }] of this.#open) {
      if (!watched.has(publicUri)) continue;
      const member = `"${Meta.SUBSCRIPTION_ID}":${id}`;
      const metaEdits = meta === undefined ? changeMembers(params, [], `"_meta":{${member}}`) : changeMembers(meta, [Meta.SUBSCRIPTION_ID], member);
      this.#peer.send(splice(bytes, [...uriEdits, ...metaEdits]));
    }
  }

  /** The gateway ends: each request gets the answer that says so. */
  close(): void {
    for (const id of this.#open.keys()) {
      this.#peer.send(resultLine(id, `{"resultType":"complete","_meta":${tag(id)}}`));
      this.#end(id);
    }
  }

  #end(id: string): void {
    const subscription = this.#open.get(id);
    if (subscription === undefined) return;
    this.#open.delete(id);
    this.#peer.served(id, subscription);
    for (const { upstream, uri } of subscription.watched.values()) upstream.unwatch(uri);
  }
}

function tag(id: string): string {
  return `{"${Meta.SUBSCRIPTION_ID}":${id}}`;
}

function readFilter({ bytes, params }: Message): Filter {
  const text = params === undefined ? '{}' : bytes.toString('utf8', params.at, params.end);
  const { notifications } = JSON.parse(text) as { notifications?: Filter | null };
  const wanted = notifications ?? {};
  const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions.filter((uri) => typeof uri === 'string') : undefined;
  return {
    ...(wanted.toolsListChanged === true && { toolsListChanged: true }),
    ...(wanted.promptsListChanged === true && { promptsListChanged: true }),
    ...(wanted.resourcesListChanged === true && { resourcesListChanged: true }),
    ...(uris && { resourceSubscriptions: uris }),
  };
}

function watchedUris(uris: readonly string[], directory: Directory): Map<string, Watched> {
  const watched = new Map<string, Watched>();
  for (const publicUri of uris) {
    const target = resolveUri(directory, publicUri);
    if (target instanceof RpcError) continue;
    const uri = JSON.parse(Buffer.from(target.originalText, 'latin1').toString('utf8')) as string;
    watched.set(publicUri, { upstream: target.client, uri });
  }
  return watched;
}
