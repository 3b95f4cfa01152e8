import { Method, isTaskNotification } from '../protocol/methods.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { findMember, stringValue, valueText } from '../wire/json/members.ts';
import { replaceValue, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import { sentId } from '../wire/peer.ts';
import { callsOf } from './questions/ask.ts';
import type { UrlElicitations } from './questions/url-elicitations.ts';
import type { InFlightRequest } from './relay.ts';
import type { Tasks } from './tasks/tasks.ts';

/** Clients that a notification of a shared server is for: all, none, or the one that has what it names. */
export type Addressee = { readonly identity: string } | 'all' | 'none';

/** Ids that servers have given to clients, and whose they are. */
interface GivenIds {
  readonly tasks: Tasks;
  readonly elicitations: UrlElicitations;
}

/** Members by which a notification names a request of ours; a progress token is the id of its request. */
const REQUEST_KEYS = ['requestId', 'progressToken'] as const;

/** Notifications that are about what a client has subscribed to; they are for those that did. */
function isSubscribedTo({ method }: Message): boolean {
  return method === Method.RESOURCE_UPDATED || isTaskNotification(method);
}

/** Finds out whom a notification is for; `related` is the request on whose stream it came, where the transport tells. */
export function addresseeOf(
  server: Upstream,
  message: Message,
  related: number | undefined,
  { tasks, elicitations }: GivenIds,
): Addressee {
  if (isSubscribedTo(message)) return 'all';
  const { serverKey, peer } = server;
  // A stream of a request that the gateway has made for itself tells of no client.
  const isOwn = related !== undefined && peer.handler(related)?.isOwn === true;
  if ((related !== undefined && !isOwn) || requestIn(message) !== undefined)
    return clientOf(callNamed(server, message, isOwn ? undefined : related)?.caller?.client.identity);
  const taskId = tasks.idNamed(serverKey, message);
  if (taskId !== undefined) return clientOf(tasks.ownerOf(taskId));
  const elicitationId = message.params && stringValue(message.params, 'elicitationId');
  return elicitationId === undefined ? 'all' : clientOf(elicitations.ownerOf(serverKey, elicitationId));
}

function clientOf(identity: string | undefined): Addressee {
  return identity === undefined ? 'none' : { identity };
}

/** Returns the client's call on whose stream a notification came, or that it names. */
export function callNamed(
  server: Upstream,
  message: Message,
  related: number | undefined,
): InFlightRequest | undefined {
  const id = related ?? requestIn(message);
  return id === undefined ? undefined : callsOf(server, id)[0];
}

/** Returns the edits that name a call as its client knows it. */
export function callEdits({ params }: Message, { id, token }: InFlightRequest): Edit[] {
  if (params === undefined) return [];
  return REQUEST_KEYS.flatMap((key) => {
    const text = key === 'requestId' ? id : token;
    const member = findMember(params, key);
    return member < 0 || text === undefined ? [] : [replaceValue(params, member, text)];
  });
}

function requestIn({ params }: Message): number | undefined {
  const texts = params === undefined ? [] : REQUEST_KEYS.map((key) => valueText(params, key));
  const text = texts.find((found) => found !== undefined);
  return text === undefined ? undefined : sentId(text);
}
