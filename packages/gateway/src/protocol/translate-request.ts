import { findMember } from '../wire/json/members.ts';
import { changeMembers, encode, replaceValue, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import { envelopeMembers, Meta, type Envelope, type Era } from './eras.ts';

/** A hop of a request: who speaks which era, and what a modern server is told of a client that does not say it itself. */
export interface Crossing {
  readonly from: { readonly era: Era; readonly envelope: Envelope };
  readonly to: { readonly era: Era };
}

const ENVELOPE_KEYS: readonly string[] = [
  Meta.PROTOCOL_VERSION,
  Meta.CLIENT_INFO,
  Meta.CLIENT_CAPABILITIES,
  Meta.LOG_LEVEL,
];

/** The edits that make a request's `_meta` right for its next hop; `token` is the progress token used there. */
export function metaEdits(message: Message, { from, to }: Crossing, token: number | undefined): Edit[] {
  if (from.era === 'legacy' && to.era === 'legacy')
    return token === undefined ? [] : replaceToken(message, token);
  const tokenMember = token === undefined ? '' : `"progressToken":${token}`;
  const drop = token === undefined ? [] : ['progressToken'];
  if (from.era === 'legacy')
    return putMeta(message, drop, joinMembers(envelopeMembers(from.envelope), tokenMember));
  if (to.era === 'legacy') return putMeta(message, [...ENVELOPE_KEYS, ...drop], tokenMember);
  const clientInfo = `"${Meta.CLIENT_INFO}":${encode(from.envelope.clientInfo)}`;
  return putMeta(message, [Meta.CLIENT_INFO, ...drop], joinMembers(clientInfo, tokenMember));
}

function replaceToken(message: Message, token: number): Edit[] {
  const { meta } = message;
  const m = meta === undefined ? -1 : findMember(meta, 'progressToken');
  if (meta === undefined || m < 0) return putMeta(message, [], `"progressToken":${token}`);
  return [replaceValue(meta, m, String(token))];
}

/** Changes the members of `_meta`, making it where there is none. */
function putMeta({ bytes, params, meta }: Message, remove: readonly string[], add: string): Edit[] {
  if (meta !== undefined) return changeMembers(meta, remove, add);
  if (add === '') return [];
  if (params !== undefined) return changeMembers(params, ['_meta'], `"_meta":{${add}}`);
  const start = bytes.indexOf(0x7b) + 1;
  return [{ start, end: start, text: `"params":{"_meta":{${add}}},` }];
}

function joinMembers(...members: readonly string[]): string {
  return members.filter((member) => member !== '').join(',');
}
