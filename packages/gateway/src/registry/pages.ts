import { KINDS, type CacheHints, type Kind } from '../upstream/catalogue.ts';
import type { Era } from '../wire/era.ts';
import type { Line } from '../wire/splice.ts';

/** A page ends after so many bytes: widely used clients give up on a message of 10 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024;

const CURSOR = 'weir:';

/** Something that is listed. */
interface Entry {
  readonly client: { readonly era: Era };
  /** It can be called as a task alone, by a client that knows the tasks of its server's era. */
  readonly mustBeTask: boolean;
  /** The bytes that hold its definition, and those of others. */
  readonly page: Buffer;
  /** The definition, one character a byte, put together from parts of the page. */
  definitionText(part: Part): string;
}

type Part = (from: number, until: number) => string;

/** A client that asks for a list. */
interface Reader {
  readonly era: Era;
  /** Knows the tasks of its era. */
  readonly hasTasks: boolean;
}

/** The bytes of each page, by the cursor that leads to it. */
type Built = ReadonlyMap<string | undefined, Buffer>;

/** Answers one kind of list. The bytes are put together once for each kind of reader, when one first asks. */
export class Pages {
  readonly #kind: Kind;
  readonly #entries: { values(): Iterable<Entry> };
  readonly #hints: CacheHints;
  /** By the era of the tasks that readers know; one for all readers where nothing has to be called as a task. */
  readonly #built = new Map<Era | undefined, Built>();
  #hasTasks: boolean | undefined;

  constructor(kind: Kind, entries: { values(): Iterable<Entry> }, hints: CacheHints) {
    this.#kind = kind;
    this.#entries = entries;
    this.#hints = hints;
  }

  /** The result of the list request, or undefined for a cursor that nobody was given. */
  result(cursor: string | undefined, reader: Reader): Line | undefined {
    const page = this.#for(reader).get(cursor);
    return page && [reader.era === 'modern' ? `{${modernMembers(this.#hints)},` : '{', page, '}'];
  }

  #for({ era, hasTasks }: Reader): Built {
    this.#hasTasks ??= [...this.#entries.values()].some(({ mustBeTask }) => mustBeTask);
    const tasksEra = this.#hasTasks && hasTasks ? era : undefined;
    const known = this.#built.get(tasksEra);
    if (known !== undefined) return known;
    const built = this.#build(tasksEra);
    this.#built.set(tasksEra, built);
    return built;
  }

  #build(tasksEra: Era | undefined): Built {
    const pages = new Map<string | undefined, Buffer>();
    const page: string[] = [];
    const partOf = partsOfPages();
    let [cursor, size, count]: [string | undefined, number, number] = [undefined, 0, 0];
    const close = (next: string | undefined): void => {
      const end = next === undefined ? '' : `,"nextCursor":"${next}"`;
      const text = `"${KINDS[this.#kind].list}":[${page.join(',')}]${end}`;
      pages.set(cursor, Buffer.from(text, 'latin1'));
      page.length = 0;
      [cursor, size] = [next, 0];
    };
    for (const entry of this.#entries.values()) {
      if (entry.mustBeTask && entry.client.era !== tasksEra) continue;
      if (size > PAGE_BYTES) close(`${CURSOR}${count}`);
      const definition = entry.definitionText(partOf(entry.page));
      page.push(definition);
      size += definition.length;
      count++;
    }
    close(undefined);
    return pages;
  }
}

/** Reads the text of a page, one character a byte, once for all definitions in it: a part of a text is no copy. */
function partsOfPages(): (page: Buffer) => Part {
  const parts = new Map<Buffer, Part>();
  return (page) => {
    const known = parts.get(page);
    if (known !== undefined) return known;
    const text = page.toString('latin1');
    const part: Part = (from, until) => text.slice(from, until);
    parts.set(page, part);
    return part;
  };
}

/** What the modern era wants in the result of a list. */
function modernMembers({ ttlMs, cacheScope }: CacheHints): string {
  return `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`;
}
