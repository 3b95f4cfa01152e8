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

/** What one server offered, and when that counts. */
export interface StoredSnapshot {
  /** Hash of the server's entry in the config. */
  readonly entry: string;
  /** Hash of the lock file that stood beside the config. */
  readonly lock?: string | undefined;
  readonly snapshot: CatalogueSnapshot;
}

/** Where in the bytes of a file a definition begins, its length, what it is called, and where in it that stands. */
type StoredItem = readonly [at: number, length: number, key: string, keyAt: number, keyEnd: number];

/** What a file says of a server before the bytes of all definitions. */
interface Head extends Omit<StoredSnapshot, 'snapshot'>, Omit<CatalogueSnapshot, 'catalogue'> {
  readonly lists: Readonly<Partial<Record<Kind, readonly StoredItem[]>>>;
}

/** What a later one means is not known; definitions of earlier ones were not judged. */
const VERSION = 3;
const NEWLINE = 0x0a;

/** A line of JSON that says where each definition stands, then their bytes: nothing is parsed that need not be. */
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

/** Reads what servers offered; a file that is damaged holds none. */
export function decodeSnapshots(file: Buffer): StoredSnapshots {
  try {
    const start = file.indexOf(NEWLINE) + 1;
    const index = JSON.parse(file.toString('utf8', 0, start)) as Partial<Index>;
    const isWhole = index.version === VERSION && index.size === file.length - start;
    return new StoredSnapshots(isWhole && isObject(index.servers) ? index.servers : {}, file, start);
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

/** The servers of one file, each of which is read when it is asked for. */
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
    if (!isObject(capabilities) || !isObject(lists)) return undefined;
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

  /** May be asked for again at once: it may turn out different. */
  #listing(items: readonly StoredItem[]): Listing | undefined {
    if (!Array.isArray(items) || !items.every((item) => this.#isItem(item))) return undefined;
    return { items: items.map((item) => this.#item(item)), ttlMs: 0, cacheScope: 'private' };
  }

  #isItem(item: unknown): item is StoredItem {
    if (!Array.isArray(item)) return false;
    // By index: taking an array apart makes an iterator, and a start reads every tool.
    const { 0: at, 1: length, 2: key, 3: keyAt, 4: keyEnd } = item as unknown[];
    const isInside = Number(at) >= 0 && this.#start + Number(at) + Number(length) <= this.#file.length;
    return isInside && typeof key === 'string' && Number(keyAt) >= 0 && Number(keyEnd) <= Number(length);
  }

  #item({ 0: offset, 1: length, 2: key, 3: keyAt, 4: keyEnd }: StoredItem): Listed {
    const at = this.#start + offset;
    return { key, page: this.#file, at, end: at + length, keyAt: at + keyAt, keyEnd: at + keyEnd };
  }
}

function isObject<T>(value: T): value is T & object {
  return typeof value === 'object' && value !== null;
}
