import type { ClientRequest } from '../call/client-request.ts';
import type { ListName } from '../call/list-change-notifier.ts';
import { resolveTask, resolveUri, type Directory } from '../call/resolve.ts';
import { offersTasks, tasksRefusal } from '../call/tasks/tasks.ts';
import { resultUriEdits, uriEdit, type PublicUri } from '../call/uri-edits.ts';
import { internalError, RpcError, RpcErrorCode } from '../errors.ts';
import { envelopeMembers, Meta } from '../protocol/eras.ts';
import { Method, listChanged } from '../protocol/methods.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Account } from '../wire/account.ts';
import { answerError, notificationLine, resultLine } from '../wire/answer.ts';
import { hasMoreThan, objectValue, stringValue, valueText } from '../wire/json/members.ts';
import { changeMembers, decode, encode, splice, type Edit, type Line } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Origin } from '../wire/peer.ts';
import { spend, workOff, type Slices } from '../wire/slices.ts';
import { TaskListener } from './task-listener.ts';
import { LONGEST_URI, UriIndex, type FollowedResource } from './uri-index.ts';

/** Filter of a `subscriptions/listen` request. */
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
  readonly watched: ListenedResource[];
  tasks: readonly TaskListener[];
  ticket: number;
  /** Resolves what the filter names. */
  opening?: Slices;
  /** Its resources are watched. */
  isOpen: boolean;
}

/** A resource that a `subscriptions/listen` request names. */
interface ListenedResource extends FollowedResource {
  readonly subscription: Subscription;
}

/** A resource that a server has announced a change of. */
interface ChangedResource {
  readonly upstream: Upstream;
  readonly uri: string;
}

interface TaskUpdate {
  readonly publicUri: PublicUri;
  /** Further edits of the message. */
  readonly edits: readonly Edit[];
}

type FollowedTasks = Map<Upstream, Map<string, string>>;

const FILTER_KEYS = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;

/** Resources that one `subscriptions/listen` request may name, and that a client of the earlier revisions may subscribe to. */
const MOST_URIS = 10_000;
/** Bytes that a followed resource costs beside its URIs. */
const ENTRY_BYTES = 300;

/** Subscriptions of one client: its open `subscriptions/listen` requests, or its legacy `resources/subscribe`. */
export class Subscriptions {
  readonly #open = new Set<Subscription>();
  readonly #watched = new UriIndex<ListenedResource>();
  readonly #followed = new Map<string, FollowedResource>();
  readonly #followedUris = new UriIndex<FollowedResource>();
  readonly #account: Account;
  readonly #failed: (error: Error) => void;

  /** `account` is that of a client of the earlier revisions; `failed` logs an exception. */
  constructor(account: Account, failed: (error: Error) => void) {
    this.#account = account;
    this.#failed = failed;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens one: what is honoured is told first, and the request stays open until it is cancelled. */
  listen(asked: ClientRequest): void {
    const { message, directory } = asked;
    const { id } = message;
    const { origin } = asked.caller;
    const filter = readFilter(message);
    if (filter instanceof RpcError) return answerError(origin, id, filter);
    const subscription: Subscription = {
      id,
      origin,
      filter,
      watched: [],
      tasks: [],
      ticket: 0,
      isOpen: false,
    };
    const end = (): void => this.#end(subscription);
    subscription.ticket = origin.track({ id, cancel: end, abandon: end });
    this.#open.add(subscription);
    subscription.opening = workOff('subscriptions', [...new Set(filter.resourceSubscriptions)], {
      each: (publicUri) => resolve(subscription, publicUri, directory),
      done: () => this.#opened(subscription, asked),
      failed: (error) => {
        this.#failed(error);
        this.#end(subscription);
        answerError(origin, id, internalError());
      },
    });
  }

  #opened(subscription: Subscription, asked: ClientRequest): void {
    const { id, origin, filter, watched } = subscription;
    for (const one of watched) {
      this.#watched.add(one);
      one.upstream.watch(one.uri);
    }
    const followed = followedTasks(filter.taskIds ?? [], asked.directory);
    subscription.isOpen = true;
    subscription.tasks = listenToTasks(followed, asked);
    const honoured = {
      ...filter,
      ...(filter.resourceSubscriptions && {
        resourceSubscriptions: watched.map(({ publicUri }) => publicUri),
      }),
      ...(filter.taskIds && { taskIds: [...followed.values()].flatMap((ids) => [...ids.values()]) }),
    };
    origin.send(acknowledgement(id, honoured));
  }

  /** Subscribes the earlier revisions' way. False where the server knows that way, and is to answer itself. */
  follow({ method, params }: Message, directory: Directory): boolean | RpcError {
    const publicUri = (params && stringValue(params, 'uri')) ?? '';
    if (publicUri.length > LONGEST_URI) return tooLong();
    const target = watchable(publicUri, directory);
    if (target === undefined) return false;
    if (method === Method.UNSUBSCRIBE) return !this.#unfollow(publicUri, target) || usesListen(target);
    if (this.#followed.has(publicUri)) return usesListen(target);
    if (this.#followed.size >= MOST_URIS) return tooMany();
    this.#followed.set(publicUri, target);
    this.#followedUris.add(target);
    this.#account.charge(sizeOf(target));
    if (countsWatchers(target)) target.upstream.watch(target.uri, !usesListen(target));
    return usesListen(target);
  }

  /** The URI under which a client of the earlier revisions has subscribed to a server's resource. */
  followedAs({ serverKey }: Upstream, uri: string): string | undefined {
    // In whichever conversation with the server it was told.
    const [followed] = this.#followedUris.exact(serverKey, uri);
    return followed?.publicUri;
  }

  /** Returns true where a legacy client has subscribed to this resource or to a parent of it. */
  followsUri({ serverKey }: Upstream, uri: string): boolean {
    const [exact] = this.#followedUris.exact(serverKey, uri);
    const [above] = exact === undefined ? this.#followedUris.ancestors(serverKey, uri) : [exact];
    return above !== undefined;
  }

  /** Returns true where the client follows a resource or task of this server. */
  follows({ serverKey }: Pick<Upstream, 'serverKey'>): boolean {
    if (this.#watched.has(serverKey) || this.#followedUris.has(serverKey)) return true;
    for (const { tasks } of this.#open) if (tasks.some((one) => one.serverKey === serverKey)) return true;
    return false;
  }

  /** A server has been started again: what its last start was asked to tell, it is asked for too. */
  renew(upstream: Upstream): void {
    this.#renewTasks(upstream);
    if (!canWatch(upstream)) return;
    for (const { uri } of moveToRestarted(this.#watched, upstream)) upstream.watch(uri);
    for (const { uri } of moveToRestarted(this.#followedUris, upstream))
      if (countsWatchers({ upstream })) upstream.watch(uri);
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    for (const { id, origin, filter } of this.#open) {
      for (const list of lists) {
        if (filter[FILTER_KEYS[list]] === true)
          origin.send(notificationLine(listChanged(list), `{"_meta":${subscriptionTag(id)}}`));
      }
    }
  }

  /** Passes on that a resource has changed, to every request that asked for it, under the URI that it asked for. */
  updated({ upstream, uri }: ChangedResource, message: Message, sharedUri: string | undefined): void {
    const told = new Set<Subscription>();
    const tell = (
      { subscription, upstream: followed }: ListenedResource,
      publicUri: string | undefined,
    ): void => {
      if (followed !== upstream || told.has(subscription)) return;
      told.add(subscription);
      spend(1, message.bytes.length);
      this.#pass(subscription, message, publicUriEdits(message, publicUri));
    };
    for (const watched of this.#watched.exact(upstream.serverKey, uri)) tell(watched, watched.publicUri);
    for (const watched of this.#watched.ancestors(upstream.serverKey, uri)) tell(watched, sharedUri);
  }

  /** Passes on what a server tells of a task, to the request for which it was asked to. */
  taskChanged(upstream: Upstream, message: Message, { publicUri, edits }: TaskUpdate): void {
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
      origin.answer(resultLine(id, `{"resultType":"complete","_meta":${subscriptionTag(id)}}`));
    }
    for (const followed of this.#followed.values()) {
      this.#followedUris.remove(followed);
      if (countsWatchers(followed)) followed.upstream.unwatch(followed.uri);
    }
    this.#followed.clear();
  }

  #renewTasks(upstream: Upstream): void {
    if (!canFollow(upstream)) return;
    for (const { tasks } of this.#open)
      for (const listener of tasks) if (listener.serverKey === upstream.serverKey) listener.renew(upstream);
  }

  /** False where others have subscribed, too: their server is not to hear that one of them has ended. */
  #unfollow(publicUri: string, target: FollowedResource): boolean {
    const followed = this.#followed.get(publicUri);
    if (followed === undefined) return !countsWatchers(target) || !target.upstream.watches(target.uri);
    this.#followed.delete(publicUri);
    this.#followedUris.remove(followed);
    this.#account.release(sizeOf(followed));
    return !countsWatchers(followed) || followed.upstream.unwatch(followed.uri, !usesListen(followed));
  }

  #end(subscription: Subscription): void {
    if (!this.#open.delete(subscription)) return;
    subscription.opening?.cancel();
    subscription.origin.untrack(subscription.ticket);
    for (const watched of subscription.watched) {
      subscription.origin.account.release(sizeOf(watched));
      if (!subscription.isOpen) continue;
      this.#watched.remove(watched);
      watched.upstream.unwatch(watched.uri);
    }
    for (const listener of subscription.tasks) listener.stop();
  }
}

/** Finds the server of a resource that a request names. */
function resolve(subscription: Subscription, publicUri: string, directory: Directory): void {
  const target = watchable(publicUri, directory);
  if (target === undefined) return;
  const watched: ListenedResource = { ...target, subscription };
  subscription.watched.push(watched);
  subscription.origin.account.charge(sizeOf(watched));
}

function publicUriEdits({ params }: Message, publicUri: string | undefined): Edit[] {
  return params === undefined ? [] : uriEdit(params, (uri) => (uri === publicUri ? undefined : publicUri));
}

/** Returns true for a modern server, which has `subscriptions/listen` in place of `resources/subscribe`. */
function usesListen({ upstream }: Pick<FollowedResource, 'upstream'>): boolean {
  return upstream.era === 'modern';
}

/** Returns true where watchers are counted; a dedicated server has only one client. */
function countsWatchers({ upstream }: Pick<FollowedResource, 'upstream'>): boolean {
  return usesListen({ upstream }) || upstream.sharing === 'shared';
}

/** Moves what was followed at a server's last start to this one, and returns it. */
function moveToRestarted(index: UriIndex<FollowedResource>, upstream: Upstream): FollowedResource[] {
  const own = [...index.of(upstream.serverKey)].filter((followed) => followed.upstream !== upstream);
  for (const followed of own) followed.upstream = upstream;
  return own;
}

function sizeOf({ publicUri, uri }: FollowedResource): number {
  return publicUri.length + uri.length + ENTRY_BYTES;
}

/** Returns the first message of a subscription, which names what is honoured. */
function acknowledgement(id: string, honoured: Filter): Line {
  return notificationLine(
    Method.LISTEN_ACKNOWLEDGED,
    `{"notifications":${encode(honoured)},"_meta":${subscriptionTag(id)}}`,
  );
}

function subscriptionTag(id: string): string {
  return `{"${Meta.SUBSCRIPTION_ID}":${id}}`;
}

function tooMany(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `A client may follow ${MOST_URIS} resources or tasks by one request of 2026-07-28, or by all subscriptions of earlier revisions. End some of them.`,
  );
}

function tooLong(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `A URI that is followed has at most ${LONGEST_URI} characters.`,
  );
}

function badFilter(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    'subscriptions/listen needs "notifications" that are valid JSON',
  );
}

/** Returns an error where the filter is not valid JSON, names too much, or needs tasks that the client did not declare. */
function readFilter(message: Message): Filter | RpcError {
  try {
    if (namesTooMany(message)) return tooMany();
    const filter = parseFilter(message);
    return (filter.taskIds && tasksRefusal(message)) ?? filter;
  } catch {
    return badFilter();
  }
}

/** Counts what a filter names before it is parsed, and no further than the limit. */
function namesTooMany({ params }: Message): boolean {
  const notifications = params && objectValue(params, 'notifications');
  return (
    notifications !== undefined &&
    ['resourceSubscriptions', 'taskIds'].some((key) => hasMoreThan(MOST_URIS, notifications, key))
  );
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
    if (target instanceof RpcError || !canFollow(target.upstream)) continue;
    const ids = followed.get(target.upstream) ?? new Map<string, string>();
    followed.set(target.upstream, ids.set(decode(target.originalText), publicId));
  }
  return followed;
}

/** One that sleeps tells nothing of tasks that it made before; who asks for one of them starts it. */
function canFollow(upstream: Upstream): boolean {
  const isShared = upstream.sharing === 'shared' && upstream.isLazy !== true;
  return isShared && upstream.era === 'modern' && offersTasks(upstream);
}

/** Each server is asked in the client's name: what it may be told depends on what the client can do. */
function listenToTasks(
  followed: FollowedTasks,
  { caller, message: { meta } }: ClientRequest,
): TaskListener[] {
  const capabilities = (meta && valueText(meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
  const members = envelopeMembers({ clientInfo: caller.envelope.clientInfo, capabilities });
  return Array.from(followed, ([upstream, ids]) => new TaskListener(upstream, [...ids.keys()], members));
}

/** Returns the resource of a server that can be asked to watch it. */
function watchable(publicUri: string, directory: Directory): FollowedResource | undefined {
  if (publicUri.length > LONGEST_URI) return undefined;
  const target = resolveUri(directory, publicUri);
  if (target instanceof RpcError || !canWatch(target.upstream)) return undefined;
  return { publicUri, upstream: target.upstream, uri: decode(target.originalText) };
}
