import { quoted, Texts, RpcError, RpcErrorCode } from '../../errors.ts';
import { missingCapability } from '../../protocol/capabilities.ts';
import { Method, capabilityFor } from '../../protocol/methods.ts';
import { metaEdits } from '../../protocol/translate-request.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { errorLine, resultLine } from '../../wire/answer.ts';
import type { Message } from '../../wire/message.ts';
import { capabilitiesOf, type Caller } from '../client-request.ts';
import { relay, InFlightRequest } from '../relay.ts';
import type { Tasks } from '../tasks/tasks.ts';
import { OverBudget, type QuestionBudget } from './question-budget.ts';
import type { SuspendedCalls } from './suspended-calls.ts';

/** The clients that a question may go to, with the state of all questions. */
export interface Audience {
  /** The call that the question belongs to, by the id under which it was sent; where the transport tells. */
  readonly related: number | undefined;
  /** The client that is meant, where that is known. */
  readonly identity?: string | undefined;
  /** That client, or else the only one of the gateway, where there is but one. */
  readonly onlyClient: Caller | undefined;
  readonly suspendedCalls: SuspendedCalls;
  readonly budget: QuestionBudget;
  readonly tasks: Tasks;
}

/** Answers a server that asks for roots while no client has a call: servers ask at their start and log an error as a failure. */
const NO_ROOTS = '{"roots":[]}';

/** Passes a server's request (sampling, elicitation, roots) on to the client for which it works, in the way of its era. */
export function ask(upstream: Upstream, message: Message, audience: Audience): void {
  const refusal = tryToAsk(upstream, message, audience);
  if (refusal !== undefined) upstream.peer.reply(errorLine(message.id, refusal));
}

function tryToAsk(upstream: Upstream, message: Message, audience: Audience): RpcError | undefined {
  const { id, method } = message;
  if (upstream.era === 'modern')
    return refused(
      `${quoted(method)} cannot be sent as a request in the modern era: answer the call with "input_required"`,
    );
  const calls = callsThatMayAsk(upstream, audience);
  if (calls instanceof RpcError) return calls;
  const refusal = askFor(calls, upstream, message, audience);
  const isIdle = calls.length === 0 && audience.related === undefined;
  if (refusal === undefined || refusal instanceof OverBudget || !isIdle || method !== Method.LIST_ROOTS)
    return refusal;
  upstream.peer.reply(resultLine(id, NO_ROOTS));
  return undefined;
}

/** Asks the client of these calls, the likeliest first; without calls, the only client there is. */
function askFor(
  calls: readonly InFlightRequest[],
  upstream: Upstream,
  message: Message,
  audience: Audience,
): RpcError | undefined {
  const { method } = message;
  const [call] = calls;
  const caller = call?.caller ?? audience.onlyClient;
  if (caller === undefined)
    return unavailable(`${quoted(method)} cannot be forwarded: no client has a call running on this server`);
  const isModern = caller.era === 'modern';
  if (isModern && call?.request === undefined)
    return unavailable(
      `${quoted(method)} cannot be forwarded: Weir can ask this client only during one of its calls`,
    );
  if (isModern && capabilityFor(method) === undefined)
    return refused(`${quoted(method)} cannot be forwarded: clients of the modern era do not support it`);
  const lacking = missingCapability(method, paramsText(message), capabilitiesOf(caller, call?.request));
  if (lacking !== undefined) return refused(Texts.clientLacks(method, lacking));
  const isParked = isModern && call !== undefined;
  const over = audience.budget.open({
    upstream,
    holder: call ?? caller.client,
    isOfCall: call !== undefined,
    // A question that is passed on at once is held for the client that has to read it.
    bytes: isParked ? message.bytes.length : message.id.length,
  });
  if (over instanceof OverBudget) return over;
  return isParked
    ? audience.suspendedCalls.ask(call, upstream, message, over)
    : askDirectly(upstream, message, { calls, caller, over, ...audience });
}

function refused(text: string): RpcError {
  return new RpcError(RpcErrorCode.METHOD_NOT_FOUND, text);
}

function unavailable(text: string): RpcError {
  return new RpcError(RpcErrorCode.UNAVAILABLE, text);
}

/** A question that a client gets as a request. */
interface DirectQuestion extends Pick<Audience, 'tasks' | 'suspendedCalls'> {
  readonly calls: readonly InFlightRequest[];
  readonly caller: Caller;
  readonly over: () => void;
}

/** To a client that is asked by a request, as the server asks. */
function askDirectly(
  upstream: Upstream,
  message: Message,
  { calls, caller, over, tasks, suspendedCalls: { unanswered, elicitations } }: DirectQuestion,
): undefined {
  elicitations.asked(upstream.serverKey, message, caller.client.identity);
  const [likeliest] = calls;
  if (likeliest !== undefined) unanswered.began(likeliest);
  // The server did not name the call that asks, so all clocks stop, but only one call frees its place in the queue.
  calls.forEach((call, index) => call.pause({ keepsPlace: index > 0 }));
  relay(message, {
    from: upstream.peer,
    to: caller.client.recipient(caller.origin),
    translation: {
      request: (asked, token) =>
        metaEdits(asked, { from: { era: 'legacy', envelope: caller.envelope }, to: caller }, token),
      response: (answer) => tasks.ownRelatedEdits(upstream.serverKey, answer),
    },
    observer: {
      ended: () => {
        over();
        calls.forEach((call, index) => call.unpause({ keepsPlace: index > 0 }));
        if (likeliest?.awaitsClient === false) unanswered.over(likeliest);
      },
    },
  });
  return undefined;
}

/** The call on whose behalf a server asks: the one it names, or those of the only client that it works for, the likeliest first. */
function callsThatMayAsk(
  upstream: Upstream,
  { related, identity, suspendedCalls }: Audience,
): readonly InFlightRequest[] | RpcError {
  const all = callsOf(upstream, related).filter(
    ({ caller }) => identity === undefined || caller?.client.identity === identity,
  );
  const calls = suspendedCalls.unanswered.withoutSilent(all);
  const isSharedToken = calls.some(({ caller }) => caller?.client.isSharedToken);
  // Of many programs behind one token any two calls may be those of two.
  const parties = new Set(
    calls.map((call) => (call.caller?.client.isSharedToken ? call : call.caller?.client)),
  );
  if (parties.size > 1) return unavailable(ambiguousClient(upstream.serverKey, isSharedToken));
  return calls.toSorted((a, b) => likelihood(b) - likelihood(a) || b.number - a.number);
}

function ambiguousClient(serverKey: string, isSharedToken: boolean): string {
  const calls = isSharedToken ? 'several calls with one token' : 'calls of several clients';
  const sharing = isSharedToken ? 'per-call' : 'per-session';
  return `Server '${serverKey}' asked a question while ${calls} were running, so Weir cannot tell which client to ask. Set "sharing": "${sharing}" in its entry.`;
}

/** One that can carry a question rather than one that cannot; one that has not asked yet rather than one that waits. */
function likelihood({ request, origin, awaitsClient: isAway }: InFlightRequest): number {
  return (request === undefined ? 0 : 2) + (origin === undefined || isAway ? 0 : 1);
}

/** The clients' calls that a server works on; where the transport tells which one is meant, no other. */
export function callsOf({ peer }: Upstream, related?: number): InFlightRequest[] {
  const handlers = related === undefined ? peer.handlers() : [peer.handler(related)];
  return handlers
    .filter((handler) => handler instanceof InFlightRequest)
    .filter(({ caller }) => caller !== undefined);
}

/** Returns the requests of a server that clients are answering now. */
export function questionsOf({ peer }: Upstream): InFlightRequest[] {
  return peer.requests().filter((request) => request instanceof InFlightRequest);
}

function paramsText({ bytes, params }: Message): string {
  return params === undefined ? '{}' : bytes.toString('latin1', params.at, params.end);
}
