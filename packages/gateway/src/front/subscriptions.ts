import type { Asked } from '../call/caller.ts';
import type { ListName } from '../call/notices.ts';
import { resolveTask, resolveUri, type Directory } from '../call/resolve.ts';
import { offersTasks, tasksRefusal } from '../call/tasks.ts';
import { resultUriEdits, uriEdit, type PublicUri } from '../call/uri-edits.ts';
import { RpcError, RpcErrorCode } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { answerError, notificationLine, resultLine } from '../wire/answer.ts';
import { envelopeMembers, Meta } from '../wire/era.ts';
import { objectValue, stringValue, valueText } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { Origin } from '../wire/peer.ts';
import { changeMembers, decode, encode, splice, type Edit, type Line } from '../wire/splice.ts';
import { TaskListener } from './task-listener.ts';

/** What a client wants to hear of, as the request says it. */
interface Filter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: string[];
  /** Of the tasks extension. */
  taskIds?: string[];
}

interface Subscription {
  readonly id: string;
  readonly origin: Origin;
  readonly filter: Filter;
  readonly watched: Map<string, Watched>;
  readonly tasks: readonly TaskListener[];
  ticket: number;
}

interface Watched {
  readonly upstream: Upstream;
  readonly uri: string;
}

interface TaskNews {
  readonly publicUri: PublicUri;
  /** What the message needs besides. */
  readonly edits: readonly Edit[];
}

type FollowedTasks = Map<Upstream, Map<string, string>>;

const FILTER_KEYS = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;

/** What one client has asked to hear of: the `subscriptions/listen` requests it has open, or its subscriptions of the earlier kind. */
export class Subscriptions {
  readonly #open = new Set<Subscription>();
  readonly #followed = new Map<string, Watched>();

  get size(): number {
    return this.#open.size;
  }

  /** Opens one: what is honoured is told first, and the request stays open until it is cancelled. */
  listen(asked: Asked): void {
    const { message, directory } = asked;
    const { id } = message;
    const { origin } = asked.caller;
    const filter = readFilter(message);
    if (filter instanceof RpcError) return answerError(origin, id, filter);
    const watched = watchedUris(filter.resourceSubscriptions ?? [], directory);
    const followed = followedTasks(filter.taskIds ?? [], directory);
    const tasks = listenToTasks(followed, asked);
    const subscription: Subscription = { id, origin, filter, watched, tasks, ticket: 0 };
    const end = (): void => this.#end(subscription);
    subscription.ticket = origin.serve({ id, cancel: end, abandon: end });
    this.#open.add(subscription);
    for (const { upstream, uri } of watched.values()) upstream.watch(uri);
    const honoured = {
      ...filter,
      ...(filter.resourceSubscriptions && { resourceSubscriptions: [...watched.keys()] }),
      ...(filter.taskIds && { taskIds: [...followed.values()].flatMap((ids) => [...ids.values()]) }),
    };
    origin.send(acknowledgement(id, honoured));
  }

  /** Subscribes the earlier revisions' way. False where the server knows that way, and is to answer itself. */
  follow({ method, params }: Message, directory: Directory): boolean {
    const publicUri = (params && stringValue(params, 'uri')) ?? '';
    const target = watchedUris([publicUri], directory).get(publicUri);
    if (target === undefined) return false;
    if (method === 'resources/unsubscribe') return !this.#unfollow(publicUri, target) || isTold(target);
    if (!this.#followed.has(publicUri)) {
      this.#followed.set(publicUri, target);
      if (isCounted(target)) target.upstream.watch(target.uri, !isTold(target));
    }
    return isTold(target);
  }

  /** The URI under which a client of the earlier revisions has subscribed to a server's resource. */
  followedAs(upstream: Upstream, uri: string): string | undefined {
    // In whichever conversation with the server it was told.
    for (const [publicUri, followed] of this.#followed)
      if (followed.upstream.serverKey === upstream.serverKey && followed.uri === uri) return publicUri;
    return undefined;
  }

  /** Whether it has subscribed, in the way of the earlier revisions, to this resource or to what it is a part of. */
  followsUri({ serverKey }: Upstream, uri: string): boolean {
    const own = [...this.#followed.values()].filter(({ upstream }) => upstream.serverKey === serverKey);
    return own.some((one) => one.uri === uri || isBelow(one, { upstream: one.upstream, uri }));
  }

  /** Whether it wants to hear of something that this server has. */
  follows({ serverKey }: Pick<Upstream, 'serverKey'>): boolean {
    const open = [...this.#open];
    const watched = [...open.flatMap((one) => [...one.watched.values()]), ...this.#followed.values()];
    const followed = [...watched.map(({ upstream }) => upstream), ...open.flatMap(({ tasks }) => tasks)];
    return followed.some((one) => one.serverKey === serverKey);
  }

  /** A server has been started again: what its last start was asked to tell, it is asked for too. */
  renew(upstream: Upstream): void {
    this.#renewTasks(upstream);
    if (!canWatch(upstream)) return;
    for (const { watched } of this.#open) for (const uri of moved(watched, upstream)) upstream.watch(uri);
    for (const uri of moved(this.#followed, upstream)) if (isCounted({ upstream })) upstream.watch(uri);
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    for (const { id, origin, filter } of this.#open) {
      for (const list of lists) {
        if (filter[FILTER_KEYS[list]] === true)
          origin.send(notificationLine(`notifications/${list}/list_changed`, `{"_meta":${tag(id)}}`));
      }
    }
  }

  /** Passes on that a resource has changed, to every request that asked for it, under the URI that it asked for. */
  updated(changed: Watched, message: Message, sharedUri: string | undefined): void {
    for (const subscription of this.#open) {
      const asked = [...subscription.watched];
      const exact = asked.find(([, watched]) => isSame(watched, changed));
      if (exact !== undefined) this.#pass(subscription, message, publicUriEdits(message, exact[0]));
      else if (asked.some(([, watched]) => isBelow(watched, changed)))
        this.#pass(subscription, message, publicUriEdits(message, sharedUri));
    }
  }

  /** Passes on what a server tells of a task, to the request for which it was asked to. */
  taskChanged(upstream: Upstream, message: Message, { publicUri, edits }: TaskNews): void {
    const result = message.params && objectValue(message.params, 'result');
    const uris = result === undefined ? [] : resultUriEdits(result, publicUri);
    for (const subscription of this.#open)
      if (subscription.tasks.some((listener) => listener.isFor(upstream, message)))
        this.#pass(subscription, message, [...uris, ...edits]);
  }

  #pass({ id, origin }: Subscription, { bytes, params, meta }: Message, edits: readonly Edit[]): void {
    if (params === undefined) return;
    const member = `"${Meta.SUBSCRIPTION_ID}":${id}`;
    const tagged =
      meta === undefined
        ? changeMembers(params, ['_meta'], `"_meta":{${member}}`)
        : changeMembers(meta, [Meta.SUBSCRIPTION_ID], member);
    origin.send(splice(bytes, [...tagged, ...edits]));
  }

  /** The gateway ends: each request gets the answer that says so. */
  close(): void {
    for (const subscription of this.#open) {
      const { id, origin } = subscription;
      this.#end(subscription);
      origin.answer(resultLine(id, `{"resultType":"complete","_meta":${tag(id)}}`));
    }
    for (const followed of this.#followed.values())
      if (isCounted(followed)) followed.upstream.unwatch(followed.uri);
    this.#followed.clear();
  }

  #renewTasks(upstream: Upstream): void {
    if (!canFollow(upstream)) return;
    for (const { tasks } of this.#open)
      for (const listener of tasks) if (listener.serverKey === upstream.serverKey) listener.renew(upstream);
  }

  /** False where others have subscribed, too: their server is not to hear that one of them has ended. */
  #unfollow(publicUri: string, target: Watched): boolean {
    const followed = this.#followed.get(publicUri);
    this.#followed.delete(publicUri);
    if (followed === undefined) return !isCounted(target) || !target.upstream.watches(target.uri);
    return !isCounted(followed) || followed.upstream.unwatch(followed.uri, !isTold(followed));
  }

  #end(subscription: Subscription): void {
    if (!this.#open.delete(subscription)) return;
    subscription.origin.served(subscription.ticket);
    for (const { upstream, uri } of subscription.watched.values()) upstream.unwatch(uri);
    for (const listener of subscription.tasks) listener.stop();
  }
}

function publicUriEdits({ params }: Message, publicUri: string | undefined): Edit[] {
  return params === undefined ? [] : uriEdit(params, (uri) => (uri === publicUri ? undefined : publicUri));
}

/** A server of the modern era knows no subscribing: it is told by listening. */
function isTold({ upstream }: Pick<Watched, 'upstream'>): boolean {
  return upstream.era === 'modern';
}

/** Whether it is known how many watch: a client's own server is its own affair. */
function isCounted({ upstream }: Pick<Watched, 'upstream'>): boolean {
  return isTold({ upstream }) || upstream.sharing === 'shared';
}

function isSame(a: Watched, b: Watched): boolean {
  return a.upstream === b.upstream && a.uri === b.uri;
}

/** Those of a server's last start now belong to this one; their URIs. */
function moved(watched: Map<string, Watched>, upstream: Upstream): string[] {
  const own = [...watched].filter(
    ([, { upstream: before }]) => before !== upstream && before.serverKey === upstream.serverKey,
  );
  for (const [publicUri, { uri }] of own) watched.set(publicUri, { upstream, uri });
  return own.map(([, { uri }]) => uri);
}

/** A server may report a part of what was asked for. */
function isBelow(asked: Watched, changed: Watched): boolean {
  return (
    asked.upstream === changed.upstream &&
    changed.uri.startsWith(asked.uri.endsWith('/') ? asked.uri : `${asked.uri}/`)
  );
}

/** What is honoured is told first. */
function acknowledgement(id: string, honoured: Filter): Line {
  return notificationLine(
    'notifications/subscriptions/acknowledged',
    `{"notifications":${encode(honoured)},"_meta":${tag(id)}}`,
  );
}

function tag(id: string): string {
  return `{"${Meta.SUBSCRIPTION_ID}":${id}}`;
}

function badFilter(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    'subscriptions/listen needs "notifications" that are valid JSON',
  );
}

/** An error where the inside of a string is no JSON, which nobody has looked at before, or where the client must not ask. */
function readFilter(message: Message): Filter | RpcError {
  try {
    const filter = parseFilter(message);
    return (filter.taskIds && tasksRefusal(message)) ?? filter;
  } catch {
    return badFilter();
  }
}

function parseFilter({ bytes, params }: Message): Filter {
  const text = params === undefined ? '{}' : bytes.toString('utf8', params.at, params.end);
  const { notifications } = JSON.parse(text) as { notifications?: Filter | null };
  const wanted = notifications ?? {};
  const uris = stringsOf(wanted.resourceSubscriptions);
  const taskIds = stringsOf(wanted.taskIds);
  return {
    ...(wanted.toolsListChanged === true && { toolsListChanged: true }),
    ...(wanted.promptsListChanged === true && { promptsListChanged: true }),
    ...(wanted.resourcesListChanged === true && { resourcesListChanged: true }),
    ...(uris && { resourceSubscriptions: uris }),
    ...(taskIds && { taskIds }),
  };
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

function canWatch({ capabilities }: Upstream): boolean {
  return (capabilities['resources'] as { subscribe?: unknown } | undefined)?.subscribe === true;
}

/** Of the tasks those that a server can tell of: by server, its own id and the public one. */
function followedTasks(publicIds: readonly string[], directory: Directory): FollowedTasks {
  const followed: FollowedTasks = new Map();
  for (const publicId of publicIds) {
    const target = resolveTask(directory, publicId);
    if (target instanceof RpcError || !canFollow(target.client)) continue;
    const ids = followed.get(target.client) ?? new Map<string, string>();
    followed.set(target.client, ids.set(decode(target.originalText), publicId));
  }
  return followed;
}

/** One that sleeps tells nothing of tasks that it made before; who asks for one of them starts it. */
function canFollow(upstream: Upstream): boolean {
  const isShared = upstream.sharing === 'shared' && upstream.isDormant !== true;
  return isShared && upstream.era === 'modern' && offersTasks(upstream);
}

/** Each server is asked in the client's name: what it may be told depends on what the client can do. */
function listenToTasks(followed: FollowedTasks, { caller, message: { meta } }: Asked): TaskListener[] {
  const capabilities = (meta && valueText(meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
  const members = envelopeMembers({ clientInfo: caller.envelope.clientInfo, capabilities });
  return Array.from(followed, ([upstream, ids]) => new TaskListener(upstream, [...ids.keys()], members));
}

/** Those of the URIs that a server can be asked to watch. */
function watchedUris(uris: readonly string[], directory: Directory): Map<string, Watched> {
  const watched = new Map<string, Watched>();
  for (const publicUri of uris) {
    const target = resolveUri(directory, publicUri);
    if (target instanceof RpcError || !canWatch(target.client)) continue;
    const uri = decode(target.originalText);
    watched.set(publicUri, { upstream: target.client, uri });
  }
  return watched;
}
