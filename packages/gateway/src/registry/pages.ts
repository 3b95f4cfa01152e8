import { KINDS, type CacheHints, type Kind } from '../upstream/catalogue.ts';
import type { Era } from '../wire/era.ts';
import { encode, type Line } from '../wire/splice.ts';

/** A page ends after so many bytes: widely used clients give up on a message of 10 MiB. */
const PAGE_BYTES = 4 * 1024 * 1024;

const CURSOR = 'weir:';

/** Answers one kind of list. The bytes are put together once, when they are first asked for. */
export class Pages {
  readonly #kind: Kind;
  readonly #definitions: Iterable<Line>;
  readonly #hints: CacheHints;
  #pages: Map<string | undefined, Line> | undefined;

  constructor(kind: Kind, definitions: Iterable<Line>, hints: CacheHints) {
    this.#kind = kind;
    this.#definitions = definitions;
    this.#hints = hints;
  }

  /** The result of the list request, or undefined for a cursor that nobody was given. */
  result(cursor: string | undefined, era: Era): Line | undefined {
    this.#pages ??= this.#build();
    const page = this.#pages.get(cursor);
    if (page === undefined) return undefined;
    return [era === 'modern' ? `{${modernMembers(this.#hints)},` : '{', ...(typeof page === 'string' ? [page] : page), '}'];
  }

  #build(): Map<string | undefined, Line> {
    const pages = new Map<string | undefined, Line>();
    let cursor: string | undefined;
    let items: (string | Buffer)[] = [];
    let size = 0;
    let count = 0;
    const close = (next: string | undefined): void => {
      const end = next === undefined ? ']' : `],"nextCursor":${encode(next)}`;
      pages.set(cursor, compact([`"${KINDS[this.#kind].list}":[`, ...items, end]));
      [cursor, items, size] = [next, [], 0];
    };
    for (const definition of this.#definitions) {
      if (size > PAGE_BYTES) close(`${CURSOR}${count}`);
      const parts = typeof definition === 'string' ? [definition] : definition;
      if (size > 0) items.push(',');
      for (const part of parts) {
        items.push(part);
        size += part.length;
      }
      count++;
    }
    close(undefined);
    return pages;
  }
}

/** What the modern era wants in the result of a list. */
export function modernMembers({ ttlMs, cacheScope }: CacheHints): string {
  return `"resultType":"complete","ttlMs":${ttlMs},"cacheScope":"${cacheScope}"`;
}

/** Many small parts as one buffer, so that sending a list is one copy at most. */
function compact(parts: readonly (string | Buffer)[]): Line {
  return [Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))];
}
