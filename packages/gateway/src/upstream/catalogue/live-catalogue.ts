import { quoted, RpcErrorCode, type RpcError } from '../../errors.ts';
import type { Era } from '../../protocol/eras.ts';
import { listChanged } from '../../protocol/methods.ts';
import type { Timers } from '../../time/schedule.ts';
import { within } from '../../time/timeouts.ts';
import type { Account } from '../../wire/account.ts';
import type { Message } from '../../wire/message.ts';
import { readError } from '../start/negotiate.ts';
import { ALL_KINDS, KINDS, type Catalogue, type Kind, type Listing } from './catalogue.ts';
import { LiveList } from './live-list.ts';
import { readList } from './read-list.ts';
import { screenDefinitions } from './validate-definition.ts';

export interface LiveCatalogueOptions {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly era: Era;
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  /** Lists of an earlier start, whose order stays. */
  readonly earlier: Catalogue;
  readonly timers: Timers;
  readonly request: (method: string, params: string) => Promise<Message>;
  /** The server has gone: nothing can be read any more. */
  readonly isGone: () => boolean;
  /** Takes out of a list of tools what cannot be called. */
  readonly screen?: ((tools: Listing) => Listing) | undefined;
  /** Counts the lists, while they are read and while they are kept. */
  readonly account: Account;
  readonly warn: (text: string) => void;
  /** Works through a new list in slices before it takes effect; undefined where it is short. */
  prepare?(kind: Kind, listing: Listing): Promise<void> | undefined;
  /** A list differs from the one before. */
  changed(kind: Kind): void;
}

/** Lists of a server, read when it starts and again when it announces a change. */
export class LiveCatalogue {
  readonly #options: LiveCatalogueOptions;
  readonly #lists: Readonly<Record<Kind, LiveList>>;
  /** Bytes that are charged for each list. */
  readonly #charged: Record<Kind, number> = { tools: 0, prompts: 0, resources: 0, templates: 0 };

  constructor(options: LiveCatalogueOptions) {
    this.#options = options;
    this.#lists = {
      tools: this.#createList('tools'),
      prompts: this.#createList('prompts'),
      resources: this.#createList('resources'),
      templates: this.#createList('templates'),
    };
  }

  get listings(): Catalogue {
    const { tools, prompts, resources, templates } = this.#lists;
    return {
      tools: tools.listing,
      prompts: prompts.listing,
      resources: resources.listing,
      templates: templates.listing,
    };
  }

  offers(kind: Kind): boolean {
    return this.#options.capabilities[KINDS[kind].capability] !== undefined;
  }

  /** Reads all lists for the first time. That of tools decides; the others may come late or not at all. */
  async loadAll(remainingMs: () => number): Promise<void> {
    const others = ALL_KINDS.filter((kind) => kind !== 'tools').map((kind) => this.#loadQuietly(kind));
    if (this.offers('tools')) await this.#lists.tools.load();
    await within(remainingMs(), Promise.all(others));
  }

  /** Reads the lists again that a `list_changed` notification is about. */
  refresh(method: string): void {
    for (const kind of ALL_KINDS)
      if (method === listChanged(KINDS[kind].capability)) this.#lists[kind].refresh();
  }

  refreshAll(): void {
    for (const kind of ALL_KINDS) if (this.offers(kind)) this.#lists[kind].refresh();
  }

  /** Reads one list without a pause, for a call that waits for it. */
  readNow(kind: Kind): Promise<void> {
    return this.#lists[kind].readNow();
  }

  /** Reads one list without a pause where the server has announced a change of it; undefined where it has not. */
  readChanged(kind: Kind): Promise<void> | undefined {
    const list = this.#lists[kind];
    return list.isOutdated ? list.readNow() : undefined;
  }

  #createList(kind: Kind): LiveList {
    const { earlier, timers, isGone, warn } = this.#options;
    return new LiveList({
      earlier: earlier[kind],
      timers,
      isGone,
      read: () => this.#read(kind),
      prepare: (listing) => this.#options.prepare?.(kind, listing),
      changed: () => this.#options.changed(kind),
      failed: (error) => warn(`could not list its ${kind} again: ${quoted(error.message)}`),
    });
  }

  async #loadQuietly(kind: Kind): Promise<void> {
    if (!this.offers(kind)) return;
    const list = this.#lists[kind];
    try {
      await list.load();
      if (list.listing.items.length > 0) this.#options.changed(kind);
    } catch (error) {
      // A server may have resources without templates; no capability tells.
      const isMissing = kind === 'templates' && (error as RpcError).code === RpcErrorCode.METHOD_NOT_FOUND;
      if (!isMissing) this.#options.warn(`could not list its ${kind}: ${quoted((error as Error).message)}`);
    }
  }

  async #read(kind: Kind): Promise<Listing> {
    const { era, meta, request, warn, screen } = this.#options;
    const ask = async (method: string, params: string): Promise<Message> => {
      const answer = await request(method, params);
      if (answer.isError) throw readError(answer);
      return answer;
    };
    const before = this.#charged[kind];
    let bytes = 0;
    const read = (page: number): void => {
      bytes += page;
      // The list that is replaced does not count beside the new one: a server may have lists of the whole size.
      if (bytes > this.#charged[kind]) this.#charge(kind, bytes);
    };
    try {
      const listed = await readList(kind, { meta, ask, warn, read });
      const listing = await screenDefinitions(listed, { kind, era, warn });
      this.#charge(kind, bytes);
      return kind === 'tools' && screen !== undefined ? screen(listing) : listing;
    } catch (error) {
      this.#charge(kind, before);
      throw error;
    }
  }

  #charge(kind: Kind, bytes: number): void {
    this.#options.account.chargeList(bytes - this.#charged[kind]);
    this.#charged[kind] = bytes;
  }
}
