import { metaEdits } from '../bridge/requests.ts';
import { answerEdits } from '../bridge/results.ts';
import { RpcError, RpcErrorCode } from '../errors.ts';
import { errorLine } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import { findMember, objectValue, stringValue, type Members } from '../wire/scan.ts';
import { replaceValue, type Edit } from '../wire/splice.ts';
import type { Caller } from './caller.ts';
import { relay, type Outcome } from './relay.ts';
import { resolvePrompt, resolveTool, resolveUri, type Directory, type Target } from './resolve.ts';
import { uriEdits } from './uri-edits.ts';

/** A request of a client's that one server will answer. */
export type Call = (directory: Directory, caller: Caller, message: Message) => void;

export const callTool: Call = (directory, caller, message) =>
  forward(directory, caller, message, message.params, BY_TOOL);

export const getPrompt: Call = (directory, caller, message) =>
  forward(directory, caller, message, message.params, BY_PROMPT);

export const useResource: Call = (directory, caller, message) =>
  forward(directory, caller, message, message.params, BY_URI);

/** A completion goes to the server whose prompt or template it is about. */
export const complete: Call = (directory, caller, message) => {
  const ref = message.params && objectValue(message.params, 'ref');
  const isPrompt = ref !== undefined && stringValue(ref, 'type') === 'ref/prompt';
  forward(directory, caller, message, ref, isPrompt ? BY_PROMPT : BY_URI);
};

/** Which member says where a request goes, and how it is understood. */
interface Address {
  readonly key: 'name' | 'uri';
  resolve(directory: Directory, value: string): Target | RpcError;
}

const BY_TOOL: Address = { key: 'name', resolve: resolveTool };
const BY_PROMPT: Address = { key: 'name', resolve: resolvePrompt };
const BY_URI: Address = { key: 'uri', resolve: resolveUri };

function forward(
  directory: Directory,
  caller: Caller,
  message: Message,
  holder: Members | undefined,
  { key, resolve }: Address,
): void {
  const value = holder && stringValue(holder, key);
  const target = value === undefined ? missing(message.method, key) : resolve(directory, value);
  if (target instanceof RpcError) return caller.peer.send(errorLine(message.id, target));
  const edit = holder && replaceValue(holder, findMember(holder, key), target.originalText);
  pass(directory, caller, message, target, edit);
}

function missing(method: string, key: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, `${method} needs a "${key}" that is a string`);
}

/** Passes a request on as it is, but for what its hop needs. */
export function pass({ builder, trace }: Directory, caller: Caller, message: Message, target: Target, edit?: Edit): void {
  const { client } = target;
  const crossing = { from: caller.era, to: client.era, envelope: caller.envelope };
  const back = { from: client.era, to: caller.era };
  const isPlain = client.era === caller.era && !builder.sharesUris(client.serverKey);
  relay(message, {
    from: caller.peer,
    to: client.peer,
    name: `Server '${client.serverKey}'`,
    edits(token) {
      const edits = metaEdits(message, crossing, token);
      if (edit !== undefined) edits.push(edit);
      return edits;
    },
    adapt: isPlain
      ? undefined
      : (answer) => {
          const edits = answerEdits(answer, message.method, back);
          if (edits instanceof RpcError) return edits;
          return [...edits, ...uriEdits(answer, (uri) => builder.sharedUri(client.serverKey, uri))];
        },
    ended: trace && timed(trace, `${message.method} ${target.originalText} on '${client.serverKey}'`),
  });
}

function timed(trace: (text: string) => void, what: string): (outcome: Outcome) => void {
  const began = performance.now();
  return (outcome) => trace(`${what}: ${outcome} after ${(performance.now() - began).toFixed(1)} ms`);
}
