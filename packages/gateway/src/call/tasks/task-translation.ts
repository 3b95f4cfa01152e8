import type { RpcError } from '../../errors.ts';
import { Method, isTaskRequest } from '../../protocol/methods.ts';
import type { RegistryBuilder } from '../../registry/registry-builder.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { findMember, objectValue, stringValue, valueText, type Members } from '../../wire/json/members.ts';
import type { Edit } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { Caller, ClientRequest } from '../client-request.ts';
import type { InFlightRequest, TAKEN, Translation } from '../relay.ts';
import { resultUriEdits } from '../uri-edits.ts';
import { isOver, offersTasks, taskIdOf, type Tasks } from './tasks.ts';

/** Tasks do not cross the eras: the two have nothing but the name in common. */
export function mayEndInTask(
  { caller, message: { method, params } }: ClientRequest,
  upstream: Upstream,
): boolean {
  if (caller.era !== upstream.era) return false;
  if (method !== Method.CALL_TOOL) return isTaskRequest(method);
  if (!offersTasks(upstream)) return false;
  return caller.era === 'modern' || (params !== undefined && findMember(params, 'task') >= 0);
}

/** Makes the id of a task public on the way back. */
export class TaskTranslation implements Translation {
  readonly #inner: Translation;
  readonly #caller: Caller;
  readonly #method: string;
  readonly #upstream: Upstream;
  /** The client's token for progress, as JSON. */
  readonly #token: string | undefined;
  /** The task that is waited for: with its result it is over. */
  readonly #awaited: string | undefined;
  readonly #tasks: Tasks;
  readonly #builder: RegistryBuilder;
  /** Progress token that the server got instead. */
  #sentToken: number | undefined;

  constructor(
    inner: Translation,
    { caller, snapshot, services, message }: ClientRequest,
    upstream: Upstream,
  ) {
    this.#inner = inner;
    this.#caller = caller;
    this.#method = message.method;
    this.#upstream = upstream;
    this.#token = message.meta && valueText(message.meta, 'progressToken');
    this.#awaited = message.method === Method.GET_TASK_RESULT ? taskIdOf(message) : undefined;
    this.#tasks = services.tasks;
    this.#builder = snapshot.builder;
  }

  request(message: Message, token: number | undefined): Edit[] {
    this.#sentToken = token;
    return this.#inner.request(message, token);
  }

  response(answer: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    if (this.#awaited !== undefined) this.#tasks.over(this.#awaited);
    const edits = this.#inner.response?.(answer, call) ?? [];
    const result = answer.isError ? undefined : answer.body;
    return Array.isArray(edits) && result !== undefined ? [...edits, ...this.#taskEdits(result)] : edits;
  }

  stop(): void {
    this.#inner.stop?.();
  }

  #taskEdits(result: Members): Edit[] {
    const { serverKey } = this.#upstream;
    const task = taskIn(result, this.#method, this.#caller.era === 'modern');
    const id = task && stringValue(task, 'taskId');
    if (id !== undefined && this.#method === Method.CALL_TOOL) this.#begun(id);
    else if (task !== undefined && id !== undefined && isOver(task))
      this.#tasks.over(this.#tasks.publicId(serverKey, id));
    return [
      ...this.#tasks.idEdits(serverKey, task),
      ...this.#tasks.relatedEdits(serverKey, objectValue(result, '_meta')),
      ...this.#uriEdits(objectValue(result, 'result')),
    ];
  }

  /** In the modern era tasks have no progress. */
  #begun(id: string): void {
    const { client, era } = this.#caller;
    const { serverKey } = this.#upstream;
    const isKnown = this.#tasks.note(serverKey, id, client.identity);
    const [sentToken, token] = [this.#sentToken, this.#token];
    if (!isKnown || token === undefined || sentToken === undefined || era === 'modern') return;
    const recipient = client.recipient();
    this.#tasks.follow(this.#tasks.publicId(serverKey, id), {
      upstream: this.#upstream,
      sentToken,
      token,
      recipient,
    });
  }

  /** A modern server tells of a finished task with its result inside. */
  #uriEdits(inner: Members | undefined): Edit[] {
    if (inner === undefined || this.#method !== Method.GET_TASK) return [];
    return resultUriEdits(inner, (uri) => this.#builder.uris.sharedUri(this.#upstream.serverKey, uri));
  }
}

/** The object in a result that has the id of a task: nothing else that may be called `taskId` is touched. */
function taskIn(result: Members, method: string, isModern: boolean): Members | undefined {
  if (method === Method.GET_TASK || method === Method.CANCEL_TASK) return result;
  if (method !== Method.CALL_TOOL) return undefined;
  if (!isModern) return objectValue(result, 'task');
  return stringValue(result, 'resultType') === 'task' ? result : undefined;
}
