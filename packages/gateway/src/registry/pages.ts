import type { Era } from '../protocol/eras.ts';
import { KINDS, type CacheHints, type Kind } from '../upstream/catalogue/catalogue.ts';
import type { Edit, Line } from '../wire/json/splice.ts';

/** A page ends after so many bytes: widely used clients give up on a message of 10 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024;

const CURSOR = 'weir:';

/** Something that is listed. */
interface PageEntry {
  readonly upstream: { readonly era: Era };
  /** True for a tool that can only be called as a task; only clients that know the tasks of its server's era see it. */
  readonly mustBeTask: boolean;
  /** The bytes that hold its definition, and those of others. */
  readonly page: Buffer;
  /** Bytes of its definition, about. */
  readonly size: number;
  /** Edits without which legacy clients drop the whole list. */
  readonly legacyEdits: readonly Edit[];
  /** The definition, one character a byte, put together from parts of the page. */
  definitionText(part: ReadPart, edits?: readonly Edit[]): string;
}

type ReadPart = (from: number, until: number) => string;

/** A client that asks for a list. */
interface Reader {
  readonly era: Era;
  /** Knows the tasks of its era. */
  readonly hasTasks: boolean;
}

/** Answers one kind of list. The bytes of a page are put together once for each kind of reader, when one first asks. */
export class Pages {
  readonly #kind: Kind;
  readonly #entries: { values(): Iterable<PageEntry> };
  readonly #hints: CacheHints;
  /** Lists per kind of reader; one for all where no entry needs a task or an edit. */
  readonly #built = new Map<string, Cut>();
  #hasTasks: boolean | undefined;
  #hasLegacyEdits: boolean | undefined;

  constructor(kind: Kind, entries: { values(): Iterable<PageEntry> }, hints: CacheHints) {
    this.#kind = kind;
    this.#entries = entries;
    this.#hints = hints;
  }

  /** Returns the result of the list request; undefined for an unknown cursor. */
  result(cursor: string | undefined, reader: Reader): Line | undefined {
    const page = this.#for(reader).page(cursor);
    return page && [reader.era === 'modern' ? `{${modernMembers(this.#hints)},` : '{', page, '}'];
  }

  #for({ era, hasTasks }: Reader): Cut {
    this.#hasTasks ??= [...this.#entries.values()].some(({ mustBeTask }) => mustBeTask);
    this.#hasLegacyEdits ??= [...this.#entries.values()].some(({ legacyEdits }) => legacyEdits.length > 0);
    const tasksEra = this.#hasTasks && hasTasks ? era : undefined;
    const isEdited = this.#hasLegacyEdits && era === 'legacy';
    const key = `${tasksEra ?? ''} ${isEdited}`;
    const known = this.#built.get(key);
    if (known !== undefined) return known;
    const entries = [...this.#entries.values()].filter(
      (entry) => !entry.mustBeTask || entry.upstream.era === tasksEra,
    );
    const built = new Cut(KINDS[this.#kind].list, entries, isEdited);
    this.#built.set(key, built);
    return built;
  }
}

/** The entries of a page: the index of the first, and that behind the last. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A list cut into pages. */
class Cut {
  readonly #list: string;
  readonly #entries: readonly PageEntry[];
  /** True for legacy clients, where an entry needs an edit. */
  readonly #isEdited: boolean;
  /** By the cursor that leads to the page. */
  readonly #spans = new Map<string | undefined, Span>();
  readonly #pages = new Map<string | undefined, Buffer>();

  constructor(list: string, entries: readonly PageEntry[], isEdited: boolean) {
    this.#list = list;
    this.#entries = entries;
    this.#isEdited = isEdited;
    let [start, size] = [0, 0];
    const close = (end: number): void => {
      this.#spans.set(start === 0 ? undefined : cursorOf(start), { start, end });
      [start, size] = [end, 0];
    };
    for (let index = 0; index < entries.length; index++) {
      if (size > PAGE_BYTES) close(index);
      size += (entries[index] as PageEntry).size;
    }
    close(entries.length);
  }

  /** Returns undefined for an unknown cursor. */
  page(cursor: string | undefined): Buffer | undefined {
    const known = this.#pages.get(cursor);
    const span = this.#spans.get(cursor);
    if (known !== undefined || span === undefined) return known;
    const page = this.#build(span);
    this.#pages.set(cursor, page);
    return page;
  }

  #build({ start, end }: Span): Buffer {
    const partOf = partsOfPages();
    const definitions = this.#entries
      .slice(start, end)
      .map((entry) =>
        entry.definitionText(partOf(entry.page), this.#isEdited ? entry.legacyEdits : undefined),
      );
    const next = end < this.#entries.length ? `,"nextCursor":"${cursorOf(end)}"` : '';
    return Buffer.from(`"${this.#list}":[${definitions.join(',')}]${next}`, 'latin1');
  }
}

function cursorOf(index: number): string {
  return `${CURSOR}${index}`;
}

/**
 * Decodes a page once, one character a byte, for all definitions in it, because V8 slices a string without a copy. Decodes only
 * the parts of a page that is longer than ours.
 */
function partsOfPages(): (page: Buffer) => ReadPart {
  const parts = new Map<Buffer, ReadPart>();
  return (page) => {
    const known = parts.get(page);
    if (known !== undefined) return known;
    const text = page.length > PAGE_BYTES ? undefined : page.toString('latin1');
    const part: ReadPart = (from, until) => text?.slice(from, until) ?? page.toString('latin1', from, until);
    parts.set(page, part);
    return part;
  };
}

/** Returns the members that the modern era requires in the result of a list. */
function modernMembers({ ttlMs, cacheScope }: CacheHints): string {
  return `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`;
}
