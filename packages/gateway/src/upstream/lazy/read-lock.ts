import { isUtf8 } from 'node:buffer';
import { isRecord } from '../../wire/json/is-record.ts';
import { validateValue } from '../../wire/json/scan.ts';
import { KINDS, type Kind, type Listed } from '../catalogue/catalogue.ts';
import { readPlainItem } from '../catalogue/plain-list.ts';
import { readItem } from '../catalogue/read-list.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';
import { snapshotOf, stringIn, type LockedSnapshot, type LockedSnapshots } from './locked-snapshot.ts';
import { readLooseLock } from './read-loose-lock.ts';
import { textHash } from './snapshot-hash.ts';

/** A part of the file: one line, or the lines of a server between its key and its closing brace. */
interface LineSpan {
  readonly at: number;
  readonly end: number;
}

interface Block extends LineSpan {
  readonly bytes: Buffer;
}

type Blocks = ReadonlyMap<string, Block>;

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const SPACE = 0x20;
const START = '{\n  "lockfileVersion":1,\n';
const SERVERS = '\n  "servers":{';
const SERVER = '\n    ';
/** Spaces before the members of a server. Two more stand before a definition. */
const INDENT = 6;
/** Bytes of a file from which on a walk is compiled soon enough to be faster than the parser of the engine. */
const LARGE = 1024 * 1024;
const OPENS_LIST = /^"(tools|prompts|resources|templates)":\[$/u;
const CLOSES_LIST = ']';

/**
 * Reads a lock file by its lines, because a walk over all bytes would take a start longer than everything else. Walks over
 * them where people or tools have changed the layout. Returns undefined for a file that is not a lock file.
 */
export function readLock(file: Buffer): LockedSnapshots | undefined {
  let loose: { readonly servers: LockedSnapshots | undefined } | undefined;
  const readLoosely = (): LockedSnapshots | undefined => {
    loose ??= { servers: readLooseLock(file) };
    return loose.servers;
  };
  const blocks = blocksIn(file);
  if (blocks === undefined) return readLoosely();
  return new Map(
    Array.from(blocks, ([key, block]) => [key, lockedIn(block, () => readLoosely()?.get(key)?.read())]),
  );
}

/** Finds the lines of each server; returns undefined where the file has another layout. */
function blocksIn(bytes: Buffer): Blocks | undefined {
  if (!isUtf8(bytes) || !standsAt(bytes, 0, START)) return undefined;
  const blocks = new Map<string, Block>();
  let at = bytes.indexOf(SERVERS) + SERVERS.length;
  while (standsAt(bytes, at, `${SERVER}"`)) {
    const lineEnd = bytes.indexOf(NEWLINE, at + 1);
    const key = keyIn(bytes.toString('utf8', at + SERVER.length, lineEnd));
    const end = bytes.indexOf(`${SERVER}}`, lineEnd);
    if (key === undefined || end <= lineEnd) return undefined;
    blocks.set(key, { bytes, at: lineEnd + 1, end });
    at = end + SERVER.length + 1;
    if (bytes[at] !== COMMA) break;
    at++;
  }
  return bytes.toString('utf8', at) === (blocks.size === 0 ? '}\n}\n' : '\n  }\n}\n') ? blocks : undefined;
}

/** Reads the line that opens a server, such as `"files":{`. */
function keyIn(line: string): string | undefined {
  const key = line.endsWith(':{') ? parsed(line.slice(0, -2)) : undefined;
  return typeof key === 'string' ? key : undefined;
}

function lockedIn(block: Block, readLoosely: () => CatalogueSnapshot | undefined): LockedSnapshot {
  const { head, rest } = splitHead(block);
  const hash = stringIn(head, 'hash');
  return {
    entry: stringIn(head, 'entry'),
    hash,
    read: () => (hash === hashOf(rest) ? snapshotIn(rest) : undefined) ?? readLoosely(),
  };
}

/** Reads the members that the hash does not cover, and returns the lines after them. */
function splitHead(block: Block): { head: ReadonlyMap<string, unknown>; rest: Block } {
  const head = new Map<string, unknown>();
  let { at } = block;
  for (const line of linesOf(block)) {
    const [name, value] = memberIn(block, line) ?? [];
    if (name !== 'entry' && name !== 'hash' && name !== 'package') break;
    head.set(name, value);
    at = block.bytes.indexOf(NEWLINE, line.at) + 1;
  }
  return { head, rest: { ...block, at } };
}

function hashOf({ bytes, at, end }: Block): string {
  return textHash(
    bytes.toString('latin1', at + INDENT, end).replaceAll(`\n${' '.repeat(INDENT)}`, '\n'),
    'latin1',
  );
}

/** Reads the members and definitions of a server; undefined where a line is not as Weir writes it. */
function snapshotIn(block: Block): CatalogueSnapshot | undefined {
  const members = new Map<string, unknown>();
  const lists = new Map<Kind, Listed[]>();
  let kind: Kind | undefined;
  for (const line of linesOf(block)) {
    if (block.bytes[line.at] === SPACE) {
      const item = kind && definitionIn(block, { at: line.at + 2, end: line.end }, KINDS[kind].key);
      if (kind === undefined || item === undefined) return undefined;
      lists.get(kind)?.push(item);
      continue;
    }
    const text = block.bytes.toString('utf8', line.at, line.end);
    const opened = OPENS_LIST.exec(text)?.[1] as Kind | undefined;
    const member = memberIn(block, line);
    if (member !== undefined) members.set(...member);
    else if (opened !== undefined) lists.set(opened, []);
    else if (text !== CLOSES_LIST) return undefined;
    kind = opened;
  }
  return snapshotOf(members, lists);
}

/** Returns the lines of a block without their indent, and without the comma at their end. */
function* linesOf({ bytes, at, end }: Block): Generator<LineSpan> {
  for (let start = at; start < end;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const lineEnd = newline < 0 || newline > end ? end : newline;
    yield { at: start + INDENT, end: bytes[lineEnd - 1] === COMMA ? lineEnd - 1 : lineEnd };
    start = lineEnd + 1;
  }
}

/** Reads a line such as `"era":"legacy"`. */
function memberIn({ bytes }: Block, { at, end }: LineSpan): [name: string, value: unknown] | undefined {
  const object = parsed(`{${bytes.toString('utf8', at, end)}}`);
  return isRecord(object) ? Object.entries(object)[0] : undefined;
}

/** Reads a definition with the parser of the engine; walks over it where that pays, or where its writing is unusual. */
function definitionIn({ bytes }: Block, span: LineSpan, key: string): Listed | undefined {
  const plain = bytes.length > LARGE ? undefined : readPlainItem(bytes, span, key);
  if (plain !== undefined) return plain;
  const definition = bytes.subarray(span.at, span.end);
  return validateValue(definition, 0) === definition.length ? readItem(definition, key) : undefined;
}

function standsAt(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
