import { RpcError, RpcErrorCode } from '../../errors.ts';
import { Method } from '../../protocol/methods.ts';
import { readError } from '../../upstream/start/negotiate.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { answerError, requestLine, resultLine } from '../../wire/answer.ts';
import { findMember, readMembers, stringValue, walkArray, type Members } from '../../wire/json/members.ts';
import { skipValue } from '../../wire/json/scan.ts';
import { encode, lineBytes, splice } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { Cancellable } from '../../wire/peer.ts';
import type { ClientRequest } from '../client-request.ts';

/** A server that does not answer must not hold up the others. */
const LIST_TIMEOUT_MS = 5000;

/** One server, and the page of its list that is asked for; the first where there is no cursor. */
interface Wanted {
  readonly upstream: Upstream;
  readonly cursor?: string;
}

/** One page of one server. */
interface TaskPage {
  /** Each a JSON text. */
  readonly tasks: readonly string[];
  readonly nextCursor: string | undefined;
}

const NOTHING: TaskPage = { tasks: [], nextCursor: undefined };

/** Lists the tasks of all servers that list theirs: a page of each makes a page. */
export function listTasks(asked: ClientRequest): void {
  const wanted = wantedPages(asked);
  if (wanted !== undefined) return new TaskList(asked).ask(wanted);
  const error = new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    'Invalid cursor for tasks/list. Leave it out to read the list from its beginning.',
  );
  answerError(asked.caller.origin, asked.message.id, error);
}

/** A request that several servers answer together. */
class TaskList implements Cancellable {
  readonly id: string;
  readonly #asked: ClientRequest;
  /** In the order of the config. */
  readonly #pages = new Map<Upstream, TaskPage>();
  readonly #asking = new Map<Upstream, number>();
  readonly #ticket: number;
  #timer: NodeJS.Timeout | undefined;
  #error: RpcError | undefined;

  constructor(asked: ClientRequest) {
    this.id = asked.message.id;
    this.#asked = asked;
    this.#ticket = asked.caller.origin.track(this);
  }

  ask(wanted: readonly Wanted[]): void {
    this.#timer = setTimeout(() => this.#finish(), LIST_TIMEOUT_MS).unref();
    for (const { upstream, cursor } of wanted) this.#askOne(upstream, cursor);
    if (this.#asking.size === 0) this.#finish();
  }

  cancel(): void {
    this.#stop();
  }

  abandon(): void {
    this.#stop();
  }

  #askOne(upstream: Upstream, cursor: string | undefined): void {
    const { peer, serverKey } = upstream;
    if (peer.gone !== undefined) return;
    const id = peer.onResponse({
      answered: (answer) => {
        if (answer.isError) this.#refused(upstream, readError(answer));
        else this.#pages.set(upstream, this.#read(answer, serverKey));
        this.#settled(upstream);
      },
      progressed() {},
      lost: (error) => {
        this.#refused(upstream, error);
        this.#settled(upstream);
      },
    });
    this.#asking.set(upstream, id);
    this.#pages.set(upstream, NOTHING);
    peer.send(requestLine(id, Method.LIST_TASKS, encode(cursor === undefined ? {} : { cursor })));
  }

  #read({ bytes, body: result }: Message, serverKey: string): TaskPage {
    const m = result === undefined ? -1 : findMember(result, 'tasks');
    if (result === undefined || m < 0) return NOTHING;
    const tasks: string[] = [];
    walkArray(bytes, result.flat[m + 2] as number, (_, at) => {
      const task = readMembers(bytes, at);
      if (task !== undefined && this.#isVisible(serverKey, task))
        tasks.push(this.#publicText(serverKey, task));
      return task?.end ?? skipValue(bytes, at);
    });
    return { tasks, nextCursor: stringValue(result, 'nextCursor') };
  }

  /** Returns false for a task of another client. */
  #isVisible(serverKey: string, task: Members): boolean {
    const {
      services: { tasks },
      caller,
    } = this.#asked;
    const id = stringValue(task, 'taskId') ?? '';
    const owner = tasks.ownerOf(tasks.publicId(serverKey, id));
    return owner === undefined || owner === caller.client.identity;
  }

  #publicText(serverKey: string, { bytes, at, end }: Members): string {
    const own = bytes.subarray(at, end);
    const edits = this.#asked.services.tasks.idEdits(serverKey, readMembers(own, 0));
    return lineBytes(splice(own, edits)).toString('latin1');
  }

  #refused(upstream: Upstream, error: RpcError): void {
    this.#error = error;
    this.#pages.delete(upstream);
  }

  #settled(upstream: Upstream): void {
    this.#asking.delete(upstream);
    if (this.#asking.size === 0) this.#finish();
  }

  /** Answers with the pages that arrived. Servers that refused or timed out are left out, unless all refused. */
  #finish(): void {
    const { origin } = this.#asked.caller;
    this.#stop();
    if (this.#pages.size === 0 && this.#error !== undefined) return answerError(origin, this.id, this.#error);
    const tasks = [...this.#pages.values()].flatMap((page) => page.tasks);
    const next = cursorFor(this.#pages);
    const more = next === undefined ? '' : `,"nextCursor":${encode(next)}`;
    origin.answer(resultLine(this.id, `{"tasks":[${tasks.join(',')}]${more}}`));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    for (const [{ peer }, id] of this.#asking) {
      peer.forget(id);
      peer.notify(Method.CANCELLED, { requestId: id });
    }
    this.#asking.clear();
    this.#asked.caller.origin.untrack(this.#ticket);
  }
}

/** The cursor that stands for those of several servers. */
function cursorFor(pages: ReadonlyMap<Upstream, TaskPage>): string | undefined {
  const next = Array.from(pages, ([{ serverKey }, { nextCursor }]) => [serverKey, nextCursor] as const);
  const open = next.filter(([, cursor]) => cursor !== undefined);
  return open.length === 0 ? undefined : Buffer.from(JSON.stringify(open)).toString('base64url');
}

/** Returns the servers and cursors that a request asks for; undefined for a cursor that is not ours. */
function wantedPages({ snapshot, message: { params } }: ClientRequest): Wanted[] | undefined {
  const { upstreams } = snapshot.registry;
  if (params === undefined || findMember(params, 'cursor') < 0)
    return [...upstreams.values()].filter(listsTasks).map((upstream) => ({ upstream }));
  const cursors = readCursor(stringValue(params, 'cursor') ?? '');
  return cursors?.flatMap(([serverKey, cursor]) => {
    const upstream = upstreams.get(serverKey);
    return upstream !== undefined && listsTasks(upstream) ? [{ upstream, cursor }] : [];
  });
}

function readCursor(cursor: string): [string, string][] | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(read) && read.length > 0 && read.every(isPair) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

function listsTasks({ era, sharing, capabilities }: Upstream): boolean {
  const tasks = capabilities['tasks'] as { list?: unknown } | null | undefined;
  return era === 'legacy' && sharing === 'shared' && tasks?.list !== undefined;
}
