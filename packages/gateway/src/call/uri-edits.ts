import type { Message } from '../wire/message.ts';
import {
  findMember,
  objectValue,
  readElements,
  readMembers,
  readString,
  type Members,
} from '../wire/scan.ts';
import { encode, replaceValue, type Edit } from '../wire/splice.ts';

/** The public form of a URI that a server mentions; undefined where it stays as it is. */
export type PublicUri = (uri: string) => string | undefined;

/** The edits that give the links and embedded resources of a result their public URIs. */
export function uriEdits(answer: Message, publicUri: PublicUri): Edit[] {
  const result = answer.isError ? undefined : readMembers(answer.bytes, answer.bodyAt);
  if (result === undefined) return [];
  const blocks = [...objects(result, 'content'), ...objects(result, 'contents')];
  for (const message of objects(result, 'messages')) {
    const content = objectValue(message, 'content');
    if (content !== undefined) blocks.push(content);
    else blocks.push(...objects(message, 'content'));
  }
  return blocks.flatMap((block) => [...uriEdit(block, publicUri), ...embeddedEdit(block, publicUri)]);
}

function embeddedEdit(block: Members, publicUri: PublicUri): Edit[] {
  const resource = objectValue(block, 'resource');
  return resource === undefined ? [] : uriEdit(resource, publicUri);
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

function objects(parent: Members, key: string): Members[] {
  const m = findMember(parent, key);
  const spans = m < 0 ? undefined : readElements(parent.bytes, parent.flat[m + 2] as number);
  const found: Members[] = [];
  for (let s = 0; spans !== undefined && s < spans.length; s += 2) {
    const members = readMembers(parent.bytes, spans[s] as number);
    if (members !== undefined) found.push(members);
  }
  return found;
}
