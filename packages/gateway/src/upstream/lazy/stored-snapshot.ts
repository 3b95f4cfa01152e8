import { isRecord } from '../../wire/json/value-checks.ts';
import {
  ALL_KINDS,
  definitionOf,
  listedKinds,
  NO_LISTS,
  NOTHING,
  type Catalogue,
  type Kind,
  type Listed,
  type Listing,
} from '../catalogue/catalogue.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';

/** The lists of one server, and the entry that they hold for. */
export interface StoredSnapshot {
  /** Hash of the server's entry in the config. */
  readonly entry: string;
  /** Hash of the server's definitions in the lock file at that time. */
  readonly lock?: string | undefined;
  readonly snapshot: CatalogueSnapshot;
}

/** Position of a definition in the bytes of a value, its length, its name, and the position of the name in it. */
type StoredItem = readonly [at: number, length: number, key: string, keyAt: number, keyEnd: number];

/** The part of a server in the first line, before the bytes of all definitions. */
interface Head extends Omit<StoredSnapshot, 'snapshot'>, Omit<CatalogueSnapshot, 'catalogue'> {
  readonly lists: Readonly<Partial<Record<Kind, readonly StoredItem[]>>>;
}

/** A later version may mean something else; earlier ones hold definitions that were not validated. */
const VERSION = 3;
const NEWLINE = 0x0a;
const NO_BYTES = Buffer.alloc(0);

/** Writes a line of JSON with the position of each definition, then their bytes, so that a start parses the line alone. */
export function encodeSnapshots(servers: Iterable<readonly [string, StoredSnapshot]>): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  const toItem = (item: Listed): StoredItem => {
    const definition = definitionOf(item);
    parts.push(definition);
    size += definition.length;
    return [
      size - definition.length,
      definition.length,
      item.key,
      item.keyAt - item.at,
      item.keyEnd - item.at,
    ];
  };
  const heads = Array.from(servers, ([serverKey, { snapshot, ...when }]): [string, Head] => {
    const { catalogue, ...rest } = snapshot;
    const lists = listedKinds(catalogue).map((kind) => [kind, catalogue[kind].items.map(toItem)] as const);
    return [serverKey, { ...when, ...rest, lists: Object.fromEntries(lists) }];
  });
  const index = JSON.stringify({ version: VERSION, size, servers: Object.fromEntries(heads) });
  return Buffer.concat([Buffer.from(`${index}\n`), ...parts]);
}

/** Reads snapshots; a value that is missing or damaged holds none. */
export function decodeSnapshots(file: Buffer = NO_BYTES): StoredSnapshots {
  try {
    const start = file.indexOf(NEWLINE) + 1;
    const index = JSON.parse(file.toString('utf8', 0, start)) as Partial<Index>;
    const isWhole = index.version === VERSION && index.size === file.length - start;
    return new StoredSnapshots(isWhole && isRecord(index.servers) ? index.servers : {}, file, start);
  } catch {
    return new StoredSnapshots({}, file, 0);
  }
}

interface Index {
  readonly version: number;
  /** Bytes after the line. */
  readonly size: number;
  readonly servers: Readonly<Record<string, Partial<Head> | null>>;
}

/** The servers of one value. Each is read when it is needed. */
export class StoredSnapshots {
  readonly #heads: Index['servers'];
  readonly #file: Buffer;
  readonly #start: number;

  constructor(heads: Index['servers'], file: Buffer, start: number) {
    this.#heads = heads;
    this.#file = file;
    this.#start = start;
  }

  keys(): string[] {
    return Object.keys(this.#heads);
  }

  get(serverKey: string): StoredSnapshot | undefined {
    const head = Object.hasOwn(this.#heads, serverKey) ? this.#heads[serverKey] : undefined;
    const { entry, lock, era, capabilities, instructions, lists } = head ?? {};
    if (typeof entry !== 'string' || (era !== 'legacy' && era !== 'modern')) return undefined;
    if (!isRecord(capabilities) || !isRecord(lists)) return undefined;
    const catalogue = this.#catalogue(lists);
    return catalogue && { entry, lock, snapshot: { era, capabilities, instructions, catalogue } };
  }

  #catalogue(lists: Head['lists']): Catalogue | undefined {
    const catalogue = { ...NO_LISTS };
    for (const kind of ALL_KINDS) {
      const items = lists[kind];
      const listing = items === undefined ? NOTHING : this.#listing(items);
      if (listing === undefined) return undefined;
      catalogue[kind] = listing;
    }
    return catalogue;
  }

  /** Clients may ask again at once: the server may turn out to list other things. */
  #listing(items: readonly StoredItem[]): Listing | undefined {
    if (!Array.isArray(items) || !items.every((item) => this.#isItem(item))) return undefined;
    return { items: items.map((item) => this.#item(item)), ttlMs: 0, cacheScope: 'private' };
  }

  #isItem(item: unknown): item is StoredItem {
    if (!Array.isArray(item)) return false;
    // By index, because destructuring an array makes an iterator, and a start reads every tool.
    const { 0: at, 1: length, 2: key, 3: keyAt, 4: keyEnd } = item as unknown[];
    const isInside = Number(at) >= 0 && this.#start + Number(at) + Number(length) <= this.#file.length;
    return isInside && typeof key === 'string' && Number(keyAt) >= 0 && Number(keyEnd) <= Number(length);
  }

  #item({ 0: offset, 1: length, 2: key, 3: keyAt, 4: keyEnd }: StoredItem): Listed {
    const at = this.#start + offset;
    return { key, page: this.#file, at, end: at + length, keyAt: at + keyAt, keyEnd: at + keyEnd };
  }
}
