import { lackingFor } from '../bridge/capabilities.ts';
import { metaEdits } from '../bridge/requests.ts';
import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorLine } from '../wire/answer.ts';
import { Meta } from '../wire/era.ts';
import { valueText } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { Caller } from './caller.ts';
import type { Parking } from './parking.ts';
import { relay, Relayed } from './relay.ts';

/** Who there is to be asked. */
export interface Audience {
  /** The call that the question belongs to, by the id under which it was sent; where the transport tells. */
  readonly related: number | undefined;
  /** The only client of the gateway, where there is but one. */
  readonly onlyClient: Caller | undefined;
  readonly parking: Parking;
}

/** Passes a server's request (sampling, elicitation, roots) on to the client for which it works, in the way of its era. */
export function ask(upstream: Upstream, message: Message, audience: Audience): void {
  const refusal = tryToAsk(upstream, message, audience);
  if (refusal !== undefined) upstream.peer.send(errorLine(message.id, refusal));
}

function tryToAsk(upstream: Upstream, message: Message, audience: Audience): RpcError | undefined {
  const { method } = message;
  if (upstream.era === 'modern') return new RpcError(RpcErrorCode.METHOD_NOT_FOUND, Messages.noRequests(method));
  const call = callOf(upstream, audience.related);
  if (call instanceof RpcError) return call;
  const caller = call?.caller ?? audience.onlyClient;
  if (caller === undefined) return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.nobodyToAsk(method));
  const lacking = lackingFor(method, paramsText(message), capabilitiesOf(caller, call));
  if (lacking !== undefined) return new RpcError(RpcErrorCode.METHOD_NOT_FOUND, Messages.clientLacks(method, lacking));
  if (caller.era === 'legacy') return void passOn(upstream, message, caller);
  if (call?.request === undefined) return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.notDuringCall(method));
  return audience.parking.ask(call, upstream, message);
}

function passOn(upstream: Upstream, message: Message, caller: Caller): void {
  relay(message, {
    from: upstream.peer,
    to: caller.client.recipient(caller.origin),
    name: 'The client',
    edits: (asked, token) => metaEdits(asked, { from: { era: 'legacy', envelope: caller.envelope }, to: caller }, token),
  });
}

/** The call on whose behalf a server asks: the one it names, or the latest of the only client that it works for. */
function callOf(upstream: Upstream, related: number | undefined): Relayed | undefined | RpcError {
  const calls = callsOf(upstream, related);
  const clients = new Set(calls.map(({ caller }) => caller?.client));
  if (clients.size > 1) return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.whomToAsk(upstream.serverKey));
  return calls.reduce<Relayed | undefined>(
    (latest, call) => (latest === undefined || call.number > latest.number ? call : latest),
    undefined,
  );
}

/** The clients' calls that a server works on. */
export function callsOf({ peer }: Upstream, related?: number): Relayed[] {
  const known = related === undefined ? undefined : peer.waiter(related);
  const waiters = known === undefined ? peer.waiters() : [known];
  return waiters.filter((waiter) => waiter instanceof Relayed).filter(({ caller }) => caller !== undefined);
}

/** A modern client says with each request what it can do, the others once. */
function capabilitiesOf({ era, envelope }: Caller, call: Relayed | undefined): string {
  if (era === 'legacy') return envelope.capabilities;
  const meta = call?.request?.meta;
  return (meta && valueText(meta, Meta.CLIENT_CAPABILITIES)) ?? '{}';
}

function paramsText({ bytes, params }: Message): string {
  return params === undefined ? '{}' : bytes.toString('latin1', params.at, params.end);
}
