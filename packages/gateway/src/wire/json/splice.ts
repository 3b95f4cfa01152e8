import { isAscii, LARGE, lineText } from './latin1.ts';
import { findMember, type Members } from './members.ts';

/** Bytes `start` to `end` of a message give way to `text`, one character a byte. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A message on its way out. Small ones are a string of bytes (latin1), large ones keep their buffers. */
export type Line = string | readonly (string | Buffer)[];

const FEW_EDITS = 8;

export function splice(bytes: Buffer, edits: Edit[]): Line {
  sortByStart(edits);
  return bytes.length < LARGE ? spliceSmall(bytes, edits) : spliceLarge(bytes, edits);
}

function spliceSmall(bytes: Buffer, edits: readonly Edit[]): string {
  const whole = lineText(bytes);
  let line = '';
  let at = 0;
  for (const { start, end, text } of edits) {
    line += whole.slice(at, start) + text;
    at = end;
  }
  return line + whole.slice(at);
}

function spliceLarge(bytes: Buffer, edits: readonly Edit[]): (string | Buffer)[] {
  const line: (string | Buffer)[] = [];
  let at = 0;
  for (const { start, end, text } of edits) {
    if (start > at) line.push(bytes.subarray(at, start));
    if (text !== '') line.push(text);
    at = end;
  }
  line.push(bytes.subarray(at));
  return line;
}

/** A call has three or four edits, nearly in order: by insertion, which unlike the built-in sort allocates nothing. */
function sortByStart(edits: Edit[]): void {
  if (edits.length > FEW_EDITS) return void edits.sort((a, b) => a.start - b.start || a.end - b.end);
  for (let i = 1; i < edits.length; i++) {
    const edit = edits[i] as Edit;
    let j = i - 1;
    for (; j >= 0 && comesAfter(edits[j] as Edit, edit); j--) edits[j + 1] = edits[j] as Edit;
    edits[j + 1] = edit;
  }
}

function comesAfter(a: Edit, b: Edit): boolean {
  return a.start > b.start || (a.start === b.start && a.end > b.end);
}

/** Returns the number of bytes that a line takes when it is written. */
export function lineSize(line: Line): number {
  if (typeof line === 'string') return line.length;
  let size = 0;
  for (const part of line) size += part.length;
  return size;
}

/** The bytes of a spliced line again, for those who must read it. */
export function lineBytes(line: Line): Buffer {
  if (typeof line === 'string') return Buffer.from(line, 'latin1');
  return Buffer.concat(line.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
}

/** Any value as JSON, one character a byte, ready to be spliced or sent. */
export function encode(value: unknown): string {
  const text = JSON.stringify(value);
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The other direction, for a text known to be a JSON string. */
export function decode(text: string): string {
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as string;
}

/** The edit that gives a member another value. */
export function replaceValue({ flat }: Members, member: number, text: string): Edit {
  return { start: flat[member + 2] as number, end: flat[member + 3] as number, text };
}

/** The edits that take members out of an object and put others (`"key":value,…`) at its front, commas included. */
export function changeMembers(members: Members, remove: readonly string[], add: string): Edit[] {
  const { at, flat } = members;
  const gone = new Set(remove.map((key) => findMember(members, key)).filter((member) => member >= 0));
  const edits: Edit[] = [];
  let lastKept = -1;
  for (let m = 0; m < flat.length; m += 4) {
    if (gone.has(m)) continue;
    if (m > 0 && lastKept !== m - 4) edits.push(closeGap(flat, lastKept, m));
    lastKept = m;
  }
  if (flat.length > 0 && lastKept !== flat.length - 4) edits.push(closeGap(flat, lastKept, flat.length));
  if (add !== '') edits.push({ start: at + 1, end: at + 1, text: lastKept < 0 ? add : `${add},` });
  return edits;
}

/** Closes the gap between two kept members, or between one of them and its object's brace. */
function closeGap(flat: readonly number[], kept: number, next: number): Edit {
  const start = kept < 0 ? (flat[0] as number) - 1 : (flat[kept + 3] as number);
  const end = next === flat.length ? (flat[next - 1] as number) : (flat[next] as number) - 1;
  return { start, end, text: kept < 0 || next === flat.length ? '' : ',' };
}
