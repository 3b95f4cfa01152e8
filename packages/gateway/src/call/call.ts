import { RpcError, RpcErrorCode } from '../errors.ts';
import { errorLine } from '../wire/answer.ts';
import { Meta } from '../wire/era.ts';
import { findMember, objectValue, stringValue, type Members } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { Asked } from './caller.ts';
import { Passage, type Address } from './passage.ts';
import { relay } from './relay.ts';
import { resolvePrompt, resolveTool, resolveUri, type Directory, type Target } from './resolve.ts';

/** Something that a client can ask for. */
export type Call = (asked: Asked) => void;

export const callTool: Call = (asked) => forward(asked, BY_TOOL);

export const getPrompt: Call = (asked) => forward(asked, BY_PROMPT);

/** To read, subscribe to or unsubscribe from a resource. */
export const useResource: Call = (asked) => forward(asked, BY_URI);

/** A completion goes to the server whose prompt or template it is about. */
export const complete: Call = (asked) => {
  const ref = refOf(asked.message);
  const isPrompt = ref !== undefined && stringValue(ref, 'type') === 'ref/prompt';
  forward(asked, isPrompt ? BY_PROMPT_REF : BY_URI_REF);
};

/** How a request says where it goes, and how that is understood. */
interface Route extends Address {
  readonly resolve: (directory: Directory, value: string) => Target | RpcError;
}

const BY_TOOL: Route = { holder: paramsOf, key: 'name', resolve: resolveTool };
const BY_PROMPT: Route = { holder: paramsOf, key: 'name', resolve: resolvePrompt };
const BY_URI: Route = { holder: paramsOf, key: 'uri', resolve: resolveUri };
const BY_PROMPT_REF: Route = { ...BY_PROMPT, holder: refOf };
const BY_URI_REF: Route = { ...BY_URI, holder: refOf };

function paramsOf({ params }: Message): Members | undefined {
  return params;
}

function refOf({ params }: Message): Members | undefined {
  return params && objectValue(params, 'ref');
}

/** Sends a request to the server that it names, under the name that this server knows. */
function forward(asked: Asked, route: Route): void {
  const { directory, caller, message } = asked;
  const holder = route.holder(message);
  const value = holder && stringValue(holder, route.key);
  const target = value === undefined ? missing(message.method, route.key) : route.resolve(directory, value);
  if (target instanceof RpcError) return refuse(asked, target);
  if (caller.era === 'modern' && target.client.era === 'legacy') return cross(asked, target, route);
  relay(message, new Passage(asked, target, route));
}

/** From a modern client to a server that knows no rounds and learns the log level once. */
function cross(asked: Asked, target: Target, address: Address): void {
  const { directory, caller, message } = asked;
  const { meta, params } = message;
  if (params !== undefined && findMember(params, 'requestState') >= 0) {
    const error = directory.parking.resume(message, caller);
    return error && refuse(asked, error);
  }
  const level = meta && stringValue(meta, Meta.LOG_LEVEL);
  if (level !== undefined) directory.logLevels.ask(target.client, level);
  relay(message, new Passage(asked, target, address));
}

function refuse({ caller, message }: Asked, error: RpcError): void {
  caller.origin.answer(errorLine(message.id, error), error.code);
}

function missing(method: string, key: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, `${method} needs a "${key}" that is a string`);
}
