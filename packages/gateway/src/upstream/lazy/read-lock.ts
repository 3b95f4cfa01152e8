import { isUtf8 } from 'node:buffer';
import { readElements, valueText } from '../../wire/json/members.ts';
import { entriesOf, objectIn, objectOf, readObject } from '../../wire/json/objects.ts';
import { onOneLine, validateValue } from '../../wire/json/scan.ts';
import { isRecord } from '../../wire/json/value-checks.ts';
import { ALL_KINDS, KINDS, NOTHING, NO_LISTS, type Kind, type Listed } from '../catalogue/catalogue.ts';
import { readPlainItem } from '../catalogue/plain-list.ts';
import { readItem } from '../catalogue/read-list.ts';
import { snapshotHash, textHash, type CatalogueSnapshot } from './catalogue-snapshot.ts';

/** A server as the lock file has it. */
export interface LockedSnapshot {
  /** Hash of the server's entry in the config. */
  readonly entry: string | undefined;
  /** Hash of the definitions when they were written. */
  readonly hash: string | undefined;
  /** Reads the definitions; returns undefined where they do not match their hash. */
  read(): CatalogueSnapshot | undefined;
}

export type LockedSnapshots = ReadonlyMap<string, LockedSnapshot>;

/** Members of a server by their names, as a parser returns them. */
type ParsedMembers = ReadonlyMap<string, unknown>;

/** A part of the file: one line, or the lines of a server between its key and its closing brace. */
interface LineSpan {
  readonly at: number;
  readonly end: number;
}

interface Block extends LineSpan {
  readonly bytes: Buffer;
}

type Blocks = ReadonlyMap<string, Block>;

/** A later version may mean something else. */
const VERSION = '1';
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

/** Reads a lock file whatever its layout, because formatters change that; returns undefined for any other file. */
function readLooseLock(file: Buffer): LockedSnapshots | undefined {
  const bytes = onOneLine(file);
  const end = isUtf8(bytes) ? validateValue(bytes, 0) : -1;
  if (end < 0 || bytes.toString('latin1', end).trim() !== '') return undefined;
  const top = readObject(bytes, 0);
  const isOurs = top !== undefined && valueText(top, 'lockfileVersion') === VERSION;
  const servers = isOurs ? objectIn(top, 'servers') : undefined;
  return (
    servers &&
    new Map(entriesOf(servers).map(([key, text]) => [parsedLatin1(key) as string, looseServer(text)]))
  );
}

/** Reads one server. Texts have one character a byte here. */
function looseServer(text: string): LockedSnapshot {
  const members = new Map<string, unknown>();
  const lists = new Map<Kind, Listed[]>();
  const server = objectOf(text);
  for (const [key, value] of server === undefined ? [] : entriesOf(server)) {
    const name = parsedLatin1(key) as string;
    const kind = ALL_KINDS.find((each) => each === name);
    if (kind === undefined) members.set(name, parsedLatin1(value));
    else lists.set(kind, definitionsIn(Buffer.from(value, 'latin1'), KINDS[kind].key));
  }
  const hash = stringIn(members, 'hash');
  return {
    entry: stringIn(members, 'entry'),
    hash,
    read() {
      const snapshot = snapshotOf(members, lists);
      return snapshot !== undefined && hash === snapshotHash(snapshot) ? snapshot : undefined;
    },
  };
}

function definitionsIn(list: Buffer, key: string): Listed[] {
  const spans = readElements(list, 0) ?? [];
  const items: Listed[] = [];
  for (let s = 0; s < spans.length; s += 2) {
    const item = readItem(list.subarray(spans[s], spans[s + 1]), key);
    if (item !== undefined) items.push(item);
  }
  return items;
}

function parsedLatin1(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
}

/** Puts together what a lock file says of a server; returns undefined where a part has the wrong type. */
function snapshotOf(
  members: ParsedMembers,
  lists: ReadonlyMap<Kind, readonly Listed[]>,
): CatalogueSnapshot | undefined {
  const era = members.get('era');
  const capabilities = members.get('capabilities') ?? {};
  if (!isRecord(capabilities) || (era !== 'legacy' && era !== 'modern')) return undefined;
  const catalogue = { ...NO_LISTS };
  for (const [kind, items] of lists) catalogue[kind] = { ...NOTHING, items };
  return { era, capabilities, instructions: stringIn(members, 'instructions'), catalogue };
}

function stringIn(members: ParsedMembers, name: string): string | undefined {
  const value = members.get(name);
  return typeof value === 'string' ? value : undefined;
}
