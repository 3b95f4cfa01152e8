import { KINDS, type Kind } from '../upstream/catalogue/catalogue.ts';

/** The lists that a client can be told about. */
export type ListName = (typeof KINDS)[Kind]['capability'];

/** Several changes in a row are one notice. */
const DELAY_MS = 50;

/** Tells that lists have changed, a little later and once for each. */
export class ListChangeNotifier {
  readonly #tell: (lists: ReadonlySet<ListName>) => void;
  #lists = new Set<ListName>();
  #timer: NodeJS.Timeout | undefined;
  #holders = 0;
  #isStopped = false;

  constructor(tell: (lists: ReadonlySet<ListName>) => void) {
    this.#tell = tell;
  }

  changed(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#lists.add(KINDS[kind].capability);
    this.#sendLater();
  }

  /** What changes until then is one notice. */
  async hold(until: Promise<unknown>): Promise<void> {
    this.#holders++;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await until.catch(() => {});
    this.#holders--;
    this.#sendLater();
  }

  #sendLater(): void {
    if (this.#lists.size === 0 || this.#holders > 0 || this.#isStopped) return;
    this.#timer ??= setTimeout(() => this.#send(), DELAY_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #send(): void {
    const lists = this.#lists;
    this.#lists = new Set();
    this.#timer = undefined;
    this.#tell(lists);
  }
}
