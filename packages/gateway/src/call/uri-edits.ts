import type { PublicUri } from '../registry/uris.ts';
import {
  findMember,
  objectValue,
  readMembers,
  readString,
  walkArray,
  type Members,
} from '../wire/json/members.ts';
import { skipValue } from '../wire/json/scan.ts';
import { encode, replaceValue, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';

/** The edits that give the links and embedded resources of a result their public URIs. */
export function uriEdits(answer: Message, publicUri: PublicUri): Edit[] {
  const result = answer.isError ? undefined : answer.body;
  return result === undefined ? [] : resultUriEdits(result, publicUri);
}

/** The same for a result that stands somewhere in a message. */
export function resultUriEdits(result: Members, publicUri: PublicUri): Edit[] {
  const edits: Edit[] = [];
  const enter = (block: Members): void => void edits.push(...blockEdits(block, publicUri));
  visitObjects(result, 'content', enter);
  visitObjects(result, 'contents', enter);
  visitObjects(result, 'messages', (message) => {
    const content = objectValue(message, 'content');
    if (content !== undefined) enter(content);
    else visitObjects(message, 'content', enter);
  });
  return edits;
}

/** A link has its URI itself, an embedded resource one level below. */
function blockEdits(block: Members, publicUri: PublicUri): Edit[] {
  const resource = objectValue(block, 'resource');
  return [...uriEdit(block, publicUri), ...(resource === undefined ? [] : uriEdit(resource, publicUri))];
}

/** The edit for an object's `uri`, if it needs one. */
export function uriEdit(members: Members, publicUri: PublicUri): Edit[] {
  const m = findMember(members, 'uri');
  const uri =
    m < 0
      ? undefined
      : readString(members.bytes, members.flat[m + 2] as number, members.flat[m + 3] as number);
  const replacement = uri === undefined ? undefined : publicUri(uri);
  return replacement === undefined ? [] : [replaceValue(members, m, encode(replacement))];
}

/** The objects of an array, one by one: there may be millions of them. */
function visitObjects(parent: Members, key: string, visit: (members: Members) => void): void {
  const m = findMember(parent, key);
  if (m < 0) return;
  walkArray(parent.bytes, parent.flat[m + 2] as number, (bytes, at) => {
    const members = readMembers(bytes, at);
    if (members !== undefined) visit(members);
    return members?.end ?? skipValue(bytes, at);
  });
}
