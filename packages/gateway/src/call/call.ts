import { RpcError, RpcErrorCode } from '../errors.ts';
import { errorLine } from '../wire/answer.ts';
import { findMember, objectValue, stringValue, type Members } from '../wire/members.ts';
import { replaceValue } from '../wire/splice.ts';
import type { Asked } from './caller.ts';
import { Passage } from './passage.ts';
import { relay } from './relay.ts';
import { resolvePrompt, resolveTool, resolveUri, type Directory, type Target } from './resolve.ts';

/** Something that a client can ask for. */
export type Call = (asked: Asked) => void;

export const callTool: Call = (asked) => forward(asked, asked.message.params, BY_TOOL);

export const getPrompt: Call = (asked) => forward(asked, asked.message.params, BY_PROMPT);

/** To read, subscribe to or unsubscribe from a resource. */
export const useResource: Call = (asked) => forward(asked, asked.message.params, BY_URI);

/** A completion goes to the server whose prompt or template it is about. */
export const complete: Call = (asked) => {
  const { params } = asked.message;
  const ref = params && objectValue(params, 'ref');
  const isPrompt = ref !== undefined && stringValue(ref, 'type') === 'ref/prompt';
  forward(asked, ref, isPrompt ? BY_PROMPT : BY_URI);
};

/** Which member says where a request goes, and how it is understood. */
interface Address {
  readonly key: 'name' | 'uri';
  readonly resolve: (directory: Directory, value: string) => Target | RpcError;
}

const BY_TOOL: Address = { key: 'name', resolve: resolveTool };
const BY_PROMPT: Address = { key: 'name', resolve: resolvePrompt };
const BY_URI: Address = { key: 'uri', resolve: resolveUri };

/** Sends a request to the server that the member of `holder` names, under the name that this server knows. */
function forward(asked: Asked, holder: Members | undefined, { key, resolve }: Address): void {
  const { directory, caller, message } = asked;
  const value = holder && stringValue(holder, key);
  const target = value === undefined ? missing(message.method, key) : resolve(directory, value);
  if (target instanceof RpcError) return caller.peer.send(errorLine(message.id, target));
  const edit = holder && replaceValue(holder, findMember(holder, key), target.originalText);
  relay(message, new Passage(asked, target, edit));
}

function missing(method: string, key: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, `${method} needs a "${key}" that is a string`);
}
