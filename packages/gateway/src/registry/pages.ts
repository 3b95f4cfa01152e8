import { KINDS, type CacheHints, type Kind } from '../upstream/catalogue.ts';
import type { Era } from '../wire/era.ts';
import type { Line } from '../wire/splice.ts';

/** A page ends after so many bytes: widely used clients give up on a message of 10 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024;

const CURSOR = 'weir:';
const BETWEEN: Buffer = Buffer.from(',');

/** Answers one kind of list. The bytes are put together once, when they are first asked for. */
export class Pages {
  readonly #kind: Kind;
  readonly #definitions: Iterable<readonly Buffer[]>;
  readonly #hints: CacheHints;
  #pages: Map<string | undefined, Buffer> | undefined;

  constructor(kind: Kind, definitions: Iterable<readonly Buffer[]>, hints: CacheHints) {
    this.#kind = kind;
    this.#definitions = definitions;
    this.#hints = hints;
  }

  /** The result of the list request, or undefined for a cursor that nobody was given. */
  result(cursor: string | undefined, era: Era): Line | undefined {
    this.#pages ??= this.#build();
    const page = this.#pages.get(cursor);
    return page && [era === 'modern' ? `{${modernMembers(this.#hints)},` : '{', page, '}'];
  }

  #build(): Map<string | undefined, Buffer> {
    const pages = new Map<string | undefined, Buffer>();
    const page: Buffer[] = [];
    let [cursor, size, count]: [string | undefined, number, number] = [undefined, 0, 0];
    const close = (next: string | undefined): void => {
      const end = next === undefined ? ']' : `],"nextCursor":"${next}"`;
      pages.set(
        cursor,
        Buffer.concat([Buffer.from(`"${KINDS[this.#kind].list}":[`), ...page, Buffer.from(end)]),
      );
      page.length = 0;
      [cursor, size] = [next, 0];
    };
    for (const definition of this.#definitions) {
      if (size > PAGE_BYTES) close(`${CURSOR}${count}`);
      if (size > 0) page.push(BETWEEN);
      for (const part of definition) {
        page.push(part);
        size += part.length;
      }
      count++;
    }
    close(undefined);
    return pages;
  }
}

/** What the modern era wants in the result of a list. */
function modernMembers({ ttlMs, cacheScope }: CacheHints): string {
  return `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`;
}
