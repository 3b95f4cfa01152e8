import { KINDS, type Kind } from '../upstream/catalogue/catalogue.ts';

/** The lists that a client can be told about. */
export type ListName = (typeof KINDS)[Kind]['capability'];

/** Several changes in a row are one notice. */
const DELAY_MS = 50;

/** Tells each view that its lists have changed, a little later and once for each. */
export class ListChangeNotifier<View> {
  readonly #tell: (view: View, lists: ReadonlySet<ListName>) => void;
  #lists = new Map<View, Set<ListName>>();
  #timer: NodeJS.Timeout | undefined;
  #holders = 0;
  #isStopped = false;

  constructor(tell: (view: View, lists: ReadonlySet<ListName>) => void) {
    this.#tell = tell;
  }

  changed(view: View, kinds: readonly Kind[]): void {
    if (kinds.length === 0) return;
    const lists = this.#lists.get(view) ?? new Set();
    for (const kind of kinds) lists.add(KINDS[kind].capability);
    this.#lists.set(view, lists);
    this.#sendLater();
  }

  /** Delays notifications until the promise settles, so that a batch of changes sends one. */
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
    this.#lists = new Map();
    this.#timer = undefined;
    for (const [view, changed] of lists) this.#tell(view, changed);
  }
}
