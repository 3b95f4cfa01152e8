import type { ClientRequest } from '../../call/client-request.ts';
import type { ListName } from '../../call/list-change-notifier.ts';
import { resolveTask } from '../../call/resolve.ts';
import type { GatewaySnapshot } from '../../call/snapshot.ts';
import { offersTasks } from '../../call/tasks/tasks.ts';
import { resultUriEdits, uriEdit } from '../../call/uri-edits.ts';
import { internalError, RpcError } from '../../errors.ts';
import { envelopeMembers, Meta } from '../../protocol/eras.ts';
import { Method, listChanged } from '../../protocol/methods.ts';
import type { PublicUri } from '../../registry/uris.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { answerError, notificationLine, resultLine } from '../../wire/answer.ts';
import { objectValue, valueText } from '../../wire/json/members.ts';
import { changeMembers, decode, encode, splice, type Edit, type Line } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { Origin } from '../../wire/peer.ts';
import { spend, workOff, type Slices } from '../../wire/slices.ts';
import { moveToRestarted, sizeOf, watchable } from './followed-resource.ts';
import { readFilter, type ListenFilter } from './listen-filter.ts';
import { TaskListener } from './task-listener.ts';
import { UriIndex, type FollowedResource } from './uri-index.ts';

interface ListenRequest {
  readonly id: string;
  readonly origin: Origin;
  readonly filter: ListenFilter;
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
  readonly request: ListenRequest;
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

/** By server, its own id of each task and the public one. */
type FollowedTasks = Map<Upstream, Map<string, string>>;

const FILTER_KEYS = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;

/** Open `subscriptions/listen` requests of one modern client. */
export class ListenRequests {
  readonly #open = new Set<ListenRequest>();
  readonly #watched = new UriIndex<ListenedResource>();
  readonly #failed: (error: Error) => void;

  constructor(failed: (error: Error) => void) {
    this.#failed = failed;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens one: acknowledges what is honoured, and keeps the request open until it is cancelled. */
  open(asked: ClientRequest): void {
    const { caller, message, snapshot } = asked;
    const { id } = message;
    const { origin } = caller;
    const filter = readFilter(message);
    if (filter instanceof RpcError) return answerError(origin, id, filter);
    const request: ListenRequest = { id, origin, filter, watched: [], tasks: [], ticket: 0, isOpen: false };
    const end = (): void => this.#end(request);
    request.ticket = origin.track({ id, cancel: end, abandon: end });
    this.#open.add(request);
    request.opening = workOff('subscriptions', [...new Set(filter.resourceSubscriptions)], {
      each: (publicUri) => addResource(request, publicUri, snapshot),
      done: () => this.#opened(request, asked),
      failed: (error) => {
        this.#failed(error);
        this.#end(request);
        answerError(origin, id, internalError());
      },
    });
  }

  #opened(request: ListenRequest, asked: ClientRequest): void {
    const { id, origin, filter, watched } = request;
    for (const one of watched) {
      this.#watched.add(one);
      one.upstream.watch(one.uri);
    }
    const followed = followedTasks(filter.taskIds ?? [], asked.snapshot);
    request.isOpen = true;
    request.tasks = listenToTasks(followed, asked);
    const honoured = {
      ...filter,
      ...(filter.resourceSubscriptions && {
        resourceSubscriptions: watched.map(({ publicUri }) => publicUri),
      }),
      ...(filter.taskIds && { taskIds: [...followed.values()].flatMap((ids) => [...ids.values()]) }),
    };
    origin.send(acknowledgement(id, honoured));
  }

  /** Returns true where one of them follows a resource or task of this server. */
  follows(serverKey: string): boolean {
    if (this.#watched.has(serverKey)) return true;
    for (const { tasks } of this.#open) if (tasks.some((one) => one.serverKey === serverKey)) return true;
    return false;
  }

  /** Asks a restarted server for what its last start was asked to tell. */
  renew(upstream: Upstream): void {
    if (canFollowTasks(upstream))
      for (const { tasks } of this.#open)
        for (const listener of tasks) if (listener.serverKey === upstream.serverKey) listener.renew(upstream);
    for (const { uri } of moveToRestarted(this.#watched, upstream)) upstream.watch(uri);
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    for (const { id, origin, filter } of this.#open) {
      for (const list of lists) {
        if (filter[FILTER_KEYS[list]] === true)
          origin.send(notificationLine(listChanged(list), `{"_meta":${subscriptionTag(id)}}`));
      }
    }
  }

  /** Sends the change of a resource to each request that named it, under the URI that the request has for it. */
  resourceChanged({ upstream, uri }: ChangedResource, message: Message, sharedUri: string | undefined): void {
    const told = new Set<ListenRequest>();
    const tell = ({ request, upstream: followed }: ListenedResource, publicUri: string | undefined): void => {
      if (followed !== upstream || told.has(request)) return;
      told.add(request);
      spend(1, message.bytes.length);
      deliver(request, message, publicUriEdits(message, publicUri));
    };
    for (const watched of this.#watched.exact(upstream.serverKey, uri)) tell(watched, watched.publicUri);
    for (const watched of this.#watched.ancestors(upstream.serverKey, uri)) tell(watched, sharedUri);
  }

  /** Sends the change of a task to the request for which the server was asked. */
  taskChanged(upstream: Upstream, message: Message, { publicUri, edits }: TaskUpdate): void {
    const result = message.params && objectValue(message.params, 'result');
    const uris = result === undefined ? [] : resultUriEdits(result, publicUri);
    for (const request of this.#open)
      if (request.tasks.some((listener) => listener.isFor(upstream, message)))
        deliver(request, message, [...uris, ...edits]);
  }

  /** Answers each request with the end of its subscription. */
  close(): void {
    for (const request of this.#open) {
      const { id, origin } = request;
      this.#end(request);
      origin.answer(resultLine(id, `{"resultType":"complete","_meta":${subscriptionTag(id)}}`));
    }
  }

  #end(request: ListenRequest): void {
    if (!this.#open.delete(request)) return;
    request.opening?.cancel();
    request.origin.untrack(request.ticket);
    for (const watched of request.watched) {
      request.origin.account.release(sizeOf(watched));
      if (!request.isOpen) continue;
      this.#watched.remove(watched);
      watched.upstream.unwatch(watched.uri);
    }
    for (const listener of request.tasks) listener.stop();
  }
}

/** Finds the server of a resource that a request names. */
function addResource(request: ListenRequest, publicUri: string, snapshot: GatewaySnapshot): void {
  const target = watchable(publicUri, snapshot);
  if (target === undefined) return;
  const watched: ListenedResource = { ...target, request };
  request.watched.push(watched);
  request.origin.account.charge(sizeOf(watched));
}

/** Returns the tasks that a server can tell of. */
function followedTasks(publicIds: readonly string[], snapshot: GatewaySnapshot): FollowedTasks {
  const followed: FollowedTasks = new Map();
  for (const publicId of publicIds) {
    const target = resolveTask(snapshot, publicId);
    if (target instanceof RpcError || !canFollowTasks(target.upstream)) continue;
    const ids = followed.get(target.upstream) ?? new Map<string, string>();
    followed.set(target.upstream, ids.set(decode(target.originalText), publicId));
  }
  return followed;
}

/** A lazy server that does not run has no tasks to tell of; a request for one of its tasks starts it. */
function canFollowTasks(upstream: Upstream): boolean {
  const isShared = upstream.sharing === 'shared' && upstream.isPlaceholder !== true;
  return isShared && upstream.era === 'modern' && offersTasks(upstream);
}

/** Asks each server in the client's name, because what the server may tell depends on what the client can do. */
function listenToTasks(
  followed: FollowedTasks,
  { caller, message: { meta } }: ClientRequest,
): TaskListener[] {
  const capabilities = (meta && valueText(meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
  const members = envelopeMembers({ clientInfo: caller.envelope.clientInfo, capabilities });
  return Array.from(followed, ([upstream, ids]) => new TaskListener(upstream, [...ids.keys()], members));
}

/** Returns the first message of a subscription, which names what is honoured. */
function acknowledgement(id: string, honoured: ListenFilter): Line {
  return notificationLine(
    Method.LISTEN_ACKNOWLEDGED,
    `{"notifications":${encode(honoured)},"_meta":${subscriptionTag(id)}}`,
  );
}

function subscriptionTag(id: string): string {
  return `{"${Meta.SUBSCRIPTION_ID}":${id}}`;
}

/** Sends a server's notification with the id of the request that it is for. */
function deliver(
  { id, origin }: ListenRequest,
  { bytes, params, meta }: Message,
  edits: readonly Edit[],
): void {
  if (params === undefined) return;
  const member = `"${Meta.SUBSCRIPTION_ID}":${id}`;
  const tagged =
    meta === undefined
      ? changeMembers(params, ['_meta'], `"_meta":{${member}}`)
      : changeMembers(meta, [Meta.SUBSCRIPTION_ID], member);
  origin.send(splice(bytes, [...tagged, ...edits]));
}

function publicUriEdits({ params }: Message, publicUri: string | undefined): Edit[] {
  return params === undefined ? [] : uriEdit(params, (uri) => (uri === publicUri ? undefined : publicUri));
}
