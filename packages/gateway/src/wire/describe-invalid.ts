import { isUtf8 } from 'node:buffer';
import { findMember, readMembers } from './json/members.ts';
import { skipSpace } from './json/scan.ts';
import { skipEscape } from './json/valid-strings.ts';
import type { InvalidInput } from './message.ts';
import { MOST_BYTES } from './turns.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Describes a line that is not a message. There are few different texts, so that a log can hold back repeated ones. */
export function describeInvalidInput({ reason, likelyKind, bytes }: InvalidInput): string {
  const fault = reason === 'not-json' ? describeInvalidText(bytes) : undefined;
  if (fault !== undefined) return `a message with ${fault}`;
  const isBare = reason === 'not-a-message' && likelyKind === 'response' && !hasBody(bytes);
  return isBare ? 'an answer with neither a result nor an error' : 'something that is not a JSON-RPC message';
}

function hasBody(bytes: Buffer): boolean {
  if (bytes.length > MOST_BYTES) return true;
  const message = readMembers(bytes, skipSpace(bytes, 0));
  return message !== undefined && ['result', 'error'].some((key) => findMember(message, key) >= 0);
}

/** Describes the first invalid character of a text; returns undefined where all are valid. */
export function describeInvalidText(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return 'bytes that are not UTF-8';
  // A walk through more would hold up others for the sake of a better error.
  if (bytes.length > MOST_BYTES) return undefined;
  for (let i = bytes.indexOf(QUOTE); i >= 0; i = bytes.indexOf(QUOTE, i + 1)) {
    for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) {
      if ((bytes[i] as number) < SPACE) return 'a raw control character in a string';
      if (bytes[i] !== BACKSLASH) continue;
      const end = skipEscape(bytes, i);
      if (end < 0) return 'an invalid escape in a string';
      i = end - 1;
    }
  }
  return undefined;
}
