import { KINDS, type Kind } from '../upstream/catalogue.ts';

/** The lists that a client can be told about. */
export type ListName = (typeof KINDS)[Kind]['capability'];

/** Several changes in a row are one notice. */
const DELAY_MS = 50;

/** Tells that lists have changed, a little later and once for each. */
export class Notices {
  readonly #tell: (lists: ReadonlySet<ListName>) => void;
  #lists = new Set<ListName>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (lists: ReadonlySet<ListName>) => void) {
    this.#tell = tell;
  }

  changed(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#lists.add(KINDS[kind].capability);
    if (this.#lists.size > 0) this.#timer ??= setTimeout(() => this.#send(), DELAY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #send(): void {
    const lists = this.#lists;
    this.#lists = new Set();
    this.#timer = undefined;
    this.#tell(lists);
  }
}
