import { ALL_KINDS, definitionOf, type Kind, type Listed, type Listing } from '../catalogue.ts';
import type { Offering } from './remembered.ts';

/** One definition as it is kept: its text, what it is called, and where in its bytes that stands. */
type StoredItem = readonly [text: string, key: string, keyAt: number, keyEnd: number];

/** What one server offered, as it is kept in the state folder: nothing has to be searched for when it is read. */
export interface StoredOffering {
  /** Hash of the server's entry in the config. */
  readonly entry: string;
  /** Hash of the lock file that stood beside the config. */
  readonly lock?: string | undefined;
  readonly offering: Omit<Offering, 'catalogue'>;
  readonly lists: Readonly<Partial<Record<Kind, readonly StoredItem[]>>>;
}

export function toStored({ catalogue, ...offering }: Offering): Pick<StoredOffering, 'offering' | 'lists'> {
  const lists = ALL_KINDS.filter((kind) => catalogue[kind].items.length > 0).map(
    (kind) => [kind, catalogue[kind].items.map(toItem)] as const,
  );
  return { offering, lists: Object.fromEntries(lists) };
}

/** The other direction; undefined where something else stands there. */
export function fromStored({ offering, lists }: Partial<StoredOffering>): Offering | undefined {
  if (!isObject(offering) || !isObject(lists)) return undefined;
  const { era, capabilities, instructions } = offering;
  const all = ALL_KINDS.flatMap((kind) => lists[kind] ?? []);
  if ((era !== 'legacy' && era !== 'modern') || !isObject(capabilities) || !all.every(isItem))
    return undefined;
  const catalogue = ALL_KINDS.map((kind) => [kind, toListing(lists[kind] ?? [])] as const);
  return {
    era,
    capabilities,
    instructions,
    catalogue: Object.fromEntries(catalogue) as Record<Kind, Listing>,
  };
}

export function isObject<T>(value: T): value is T & object {
  return typeof value === 'object' && value !== null;
}

function isItem(item: unknown): item is StoredItem {
  if (!Array.isArray(item)) return false;
  const [text, key, keyAt, keyEnd] = item as unknown[];
  if (typeof text !== 'string' || typeof key !== 'string') return false;
  return Number(keyAt) >= 0 && Number(keyEnd) <= Buffer.byteLength(text);
}

function toItem(item: Listed): StoredItem {
  const { key, at, keyAt, keyEnd } = item;
  return [definitionOf(item).toString('utf8'), key, keyAt - at, keyEnd - at];
}

/** May be asked for again at once: it may turn out different. */
function toListing(items: readonly StoredItem[]): Listing {
  return { items: items.map(fromItem), ttlMs: 0, cacheScope: 'private' };
}

function fromItem([text, key, keyAt, keyEnd]: StoredItem): Listed {
  const page = Buffer.from(text);
  return { key, page, at: 0, end: page.length, keyAt, keyEnd };
}
