import { RpcError, RpcErrorCode } from '../errors.ts';
import type { Era } from '../protocol/eras.ts';
import { Method } from '../protocol/methods.ts';
import type { Kind } from '../upstream/catalogue/catalogue.ts';
import { objectValue, stringValue, type Members } from '../wire/json/members.ts';
import type { Message } from '../wire/message.ts';
import type { ClientRequest } from './client-request.ts';
import { taskNotFound } from './not-found.ts';
import { resolvePrompt, resolveTask, resolveTool, resolveUri, type Target } from './resolve.ts';
import type { GatewaySnapshot } from './snapshot.ts';
import { offersTasks } from './tasks/tasks.ts';

/** The member of a request that names its target, and the meaning of its value. */
export interface Addressing {
  readonly holder: (message: Message) => Members | undefined;
  readonly key: 'name' | 'uri' | 'taskId';
  readonly resolve: (snapshot: GatewaySnapshot, value: string) => Target | RpcError;
  /** The lists that may name it. */
  readonly kinds: readonly Kind[];
}

export const BY_TOOL: Addressing = { holder: paramsOf, key: 'name', resolve: resolveTool, kinds: ['tools'] };
const BY_PROMPT: Addressing = { holder: paramsOf, key: 'name', resolve: resolvePrompt, kinds: ['prompts'] };
export const BY_URI: Addressing = {
  holder: paramsOf,
  key: 'uri',
  resolve: resolveUri,
  kinds: ['resources', 'templates'],
};
export const BY_LEGACY_TASK: Addressing = {
  holder: paramsOf,
  key: 'taskId',
  resolve: taskOf('legacy'),
  kinds: [],
};
export const BY_MODERN_TASK: Addressing = { ...BY_LEGACY_TASK, resolve: taskOf('modern') };
const BY_PROMPT_REF: Addressing = { ...BY_PROMPT, holder: refOf };
const BY_URI_REF: Addressing = { ...BY_URI, holder: refOf };

/** Returns the addressing of requests that both eras send to one server; undefined for all others. */
export function addressingOf(message: Message): Addressing | undefined {
  switch (message.method) {
    case Method.CALL_TOOL:
      return BY_TOOL;
    case Method.READ_RESOURCE:
      return BY_URI;
    case Method.GET_PROMPT:
      return BY_PROMPT;
    case Method.COMPLETE:
      return isOfPrompt(message) ? BY_PROMPT_REF : BY_URI_REF;
    default:
      return undefined;
  }
}

/** Resolves the name in a request by the registry of the moment. */
export function resolveTarget(
  { snapshot, message }: ClientRequest,
  { holder, key, resolve }: Addressing,
): Target | RpcError {
  const members = holder(message);
  const value = members && stringValue(members, key);
  return value === undefined ? missing(message.method, key) : resolve(snapshot, value);
}

/** A completion goes to the server of the prompt or template that it is about. */
function isOfPrompt(message: Message): boolean {
  const ref = refOf(message);
  return ref !== undefined && stringValue(ref, 'type') === 'ref/prompt';
}

/** Only servers of the client's own era can have given it a task. */
function taskOf(era: Era): Addressing['resolve'] {
  return (snapshot, id) => {
    const target = resolveTask(snapshot, id);
    if (target instanceof RpcError || (target.upstream.era === era && offersTasks(target.upstream)))
      return target;
    return new RpcError(RpcErrorCode.INVALID_PARAMS, taskNotFound(id));
  };
}

function paramsOf({ params }: Message): Members | undefined {
  return params;
}

function refOf({ params }: Message): Members | undefined {
  return params && objectValue(params, 'ref');
}

function missing(method: string, key: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, `${method} needs a "${key}" that is a string`);
}
