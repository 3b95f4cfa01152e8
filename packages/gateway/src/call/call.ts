import { Texts, RpcError, RpcErrorCode } from '../errors.ts';
import type { Era } from '../protocol/eras.ts';
import { isRetry } from '../protocol/input-required.ts';
import { within } from '../time/timeouts.ts';
import type { Kind } from '../upstream/catalogue/catalogue.ts';
import { answerError } from '../wire/answer.ts';
import { objectValue, stringValue, valueText, type Members } from '../wire/json/members.ts';
import { encode } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import { CallTranslation, type Address } from './call-translation.ts';
import type { ClientRequest } from './client-request.ts';
import { beginCall } from './history/record-call.ts';
import {
  OwnerAway,
  resolvePrompt,
  resolveTask,
  resolveTool,
  resolveUri,
  type Directory,
  type Target,
} from './resolve.ts';
import { forwardApart } from './stages/acquire-instance.ts';
import { relayPermitted } from './stages/permit.ts';
import { isRepeatable, MAX_RETRIES, RepeatableHop, waitForRestart } from './stages/retry.ts';
import { withFolder } from './stages/roots.ts';
import { withTasks } from './tasks/task-translation.ts';
import { offersTasks, tasksRefusal } from './tasks/tasks.ts';

/** Of a name that leads nowhere, as it is noted. */
const LONGEST_NAME = 256;

/** Something that a client can ask for. */
export type Call = (asked: ClientRequest) => void;

export const callTool: Call = (asked) => forward(asked, BY_TOOL);

export const getPrompt: Call = (asked) => forward(asked, BY_PROMPT);

/** To read, subscribe to or unsubscribe from a resource. */
export const useResource: Call = (asked) => forward(asked, BY_URI);

/** To ask for a task, answer its questions or call it off. */
export const useTask: Call = (asked) => {
  const { caller, message } = asked;
  const refusal = caller.era === 'modern' ? tasksRefusal(message) : undefined;
  if (refusal === undefined) forward(asked, caller.era === 'modern' ? BY_MODERN_TASK : BY_LEGACY_TASK);
  else refuse(asked, refusal);
};

/** A completion goes to the server whose prompt or template it is about. */
export const complete: Call = (asked) => {
  const ref = refOf(asked.message);
  const isPrompt = ref !== undefined && stringValue(ref, 'type') === 'ref/prompt';
  forward(asked, isPrompt ? BY_PROMPT_REF : BY_URI_REF);
};

/** How a request says where it goes, and how that is understood. */
interface Route extends Address {
  readonly resolve: (directory: Directory, value: string) => Target | RpcError;
  /** The lists that have it. */
  readonly kinds: readonly Kind[];
}

const BY_TOOL: Route = { holder: paramsOf, key: 'name', resolve: resolveTool, kinds: ['tools'] };
const BY_PROMPT: Route = { holder: paramsOf, key: 'name', resolve: resolvePrompt, kinds: ['prompts'] };
const BY_URI: Route = {
  holder: paramsOf,
  key: 'uri',
  resolve: resolveUri,
  kinds: ['resources', 'templates'],
};
const BY_LEGACY_TASK: Route = { holder: paramsOf, key: 'taskId', resolve: taskOf('legacy'), kinds: [] };
const BY_MODERN_TASK: Route = { ...BY_LEGACY_TASK, resolve: taskOf('modern') };
const BY_PROMPT_REF: Route = { ...BY_PROMPT, holder: refOf };
const BY_URI_REF: Route = { ...BY_URI, holder: refOf };

/** Only servers of the client's own era can have given it a task. */
function taskOf(era: Era): Route['resolve'] {
  return (directory, id) => {
    const target = resolveTask(directory, id);
    if (target instanceof RpcError || (target.upstream.era === era && offersTasks(target.upstream)))
      return target;
    return new RpcError(RpcErrorCode.INVALID_PARAMS, Texts.taskNotFound(id));
  };
}

function paramsOf({ params }: Message): Members | undefined {
  return params;
}

function refOf({ params }: Message): Members | undefined {
  return params && objectValue(params, 'ref');
}

/** Sends a request to the server that it names, under the name that this server knows. */
function forward(asked: ClientRequest, route: Route): void {
  const { directory, message } = asked;
  const holder = route.holder(message);
  const value = holder && stringValue(holder, route.key);
  const target = value === undefined ? missing(message.method, route.key) : route.resolve(directory, value);
  if (target instanceof RpcError && readNews(asked, route)) return;
  if (target instanceof RpcError || !target.upstream.cwdFromRoots) return goOn(asked, target, route);
  const settled = withFolder(asked, target.upstream);
  if (settled !== undefined) goOn(settled, target, route);
}

/** Milliseconds: a server that does not answer with its list holds up no call for longer. */
const LONGEST_READING_MS = 1000;

/** A server may have announced what is not found: the lists that have changed are read, and the request is tried anew. */
function readNews(asked: ClientRequest, route: Route): boolean {
  const { caller, directory, message, isNewsRead = false } = asked;
  if (isNewsRead) return false;
  const upstreams = [...directory.registry.upstreams.values()];
  const readings = upstreams.flatMap((upstream) =>
    route.kinds.flatMap((kind) => upstream.readNews?.(kind) ?? []),
  );
  if (readings.length === 0) return false;
  let isCalledOff = false;
  const callOff = (): void => {
    isCalledOff = true;
    caller.origin.untrack(ticket);
  };
  const ticket = caller.origin.track({
    id: message.id,
    bytes: message.bytes.length,
    cancel: callOff,
    abandon: callOff,
  });
  void within(LONGEST_READING_MS, Promise.all(readings)).then(() => {
    if (isCalledOff) return;
    caller.origin.untrack(ticket);
    forward({ ...asked, directory: directory.current(), isNewsRead: true }, route);
  });
  return true;
}

function goOn(asked: ClientRequest, target: Target | RpcError, route: Route): void {
  const isGone = target instanceof RpcError;
  if (asked.caller.era === 'modern' && (isGone || target.upstream.era === 'legacy'))
    cross(asked, target, route);
  else if (isGone) refuse(asked, target);
  else pass(asked, target, route);
}

function pass(asked: ClientRequest, target: Target, route: Route): void {
  const { limits } = asked.directory;
  if (limits === undefined || !limits.concerns(asked.message)) send(asked, target, route);
  else admit(noteFirst(asked, target), target, route);
}

function send(asked: ClientRequest, target: Target, route: Route): void {
  if (asked.directory.needsAcquire(target.upstream, asked.caller)) forwardApart(asked, target, route);
  else if (isRepeatable(asked, target)) sendRepeatable(noteFirst(asked, target), target, route);
  else relayPermitted(asked, withTasks(new CallTranslation(asked, target, route), asked, target.upstream));
}

/** A call that is not sent at once, or not only once, is one call all the same. */
function noteFirst(asked: ClientRequest, target: Target): ClientRequest {
  const { upstream, originalText } = target;
  const maxRetries = isRepeatable(asked, target) ? MAX_RETRIES : 0;
  return { ...asked, invocation: beginCall(asked, upstream.serverKey, originalText, maxRetries) };
}

function admit(asked: ClientRequest, target: Target, route: Route): void {
  const { serverKey } = target.upstream;
  asked.directory.limits?.admit(asked, target, (permit, hasWaited) => {
    const permitted = { ...asked, permit };
    if (hasWaited) sendLate(permitted, serverKey, route);
    else send(permitted, target, route);
  });
}

/** While a call waited its server may have been lost: nothing was sent, so that it may wait for that too. */
function sendLate(asked: ClientRequest, serverKey: string, route: Route): void {
  waitForRestart(asked, serverKey, {
    wasSent: false,
    done: () => {
      const directory = asked.directory.current();
      const target = directory.limits?.refusal ?? resolveAnew(asked, route);
      if (!(target instanceof RpcError)) return send({ ...asked, directory }, target, route);
      asked.permit?.over();
      directory.limits?.uncount(asked);
      refuse(asked, target);
    },
  });
}

function resolveAnew({ directory, message }: ClientRequest, route: Route): Target | RpcError {
  const holder = route.holder(message);
  return route.resolve(directory.current(), (holder && stringValue(holder, route.key)) ?? '');
}

function sendRepeatable(asked: ClientRequest, target: Target, route: Route): void {
  const hop = withTasks(new CallTranslation(asked, target, route), asked, target.upstream);
  const repeat = (error: RpcError): void =>
    makeAgain(asked, route, { serverKey: target.upstream.serverKey, error });
  relayPermitted(asked, new RepeatableHop(hop, asked, repeat));
}

/** Its server was lost while it worked on the call. */
function makeAgain(
  asked: ClientRequest,
  route: Route,
  { serverKey, error }: { serverKey: string; error: RpcError },
): void {
  waitForRestart(asked, serverKey, {
    wasSent: true,
    done: (isBack) => {
      const target = isBack ? resolveAnew(asked, route) : error;
      if (target instanceof RpcError) return refuse(asked, target);
      const { attempt = 0, directory } = asked;
      pass(
        { ...asked, permit: undefined, attempt: attempt + 1, directory: directory.current() },
        target,
        route,
      );
    },
  });
}

/** From a modern client to a server that knows no rounds and learns the log level once, or that is no more. */
function cross(asked: ClientRequest, target: Target | RpcError, route: Route): void {
  const { directory, caller, message } = asked;
  if (!(target instanceof RpcError) && !directory.needsAcquire(target.upstream, caller))
    directory.logLevels.askedBy(message, target.upstream);
  const next = isRetry(message) ? directory.suspendedCalls.resume(message, caller) : message;
  if (next === undefined) return;
  if (target instanceof RpcError) refuse(asked, target);
  else if (next instanceof RpcError) refuse(asked, next);
  else if (next === message) pass(asked, target, route);
  // Made anew, it may have to say first where its client works.
  else forward({ ...asked, message: next }, route);
}

function refuse(asked: ClientRequest, error: RpcError): void {
  const { caller, message } = asked;
  noteRefused(asked, error);
  answerError(caller.origin, message.id, error);
}

function noteRefused(asked: ClientRequest, error: RpcError): void {
  const { params } = asked.message;
  const name = params && valueText(params, 'name');
  if (!name?.startsWith('"')) return;
  const [serverKey, ownName] =
    error instanceof OwnerAway ? [error.serverKey, encode(error.ownName)] : ['', name];
  beginCall(asked, serverKey, shortened(ownName))?.ended('error', error);
}

/** Nothing that leads nowhere may fill the history. */
function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : '"..."';
}

function missing(method: string, key: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, `${method} needs a "${key}" that is a string`);
}
