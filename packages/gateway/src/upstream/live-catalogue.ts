import { Deferred } from '../deferred.ts';
import { RpcErrorCode, type RpcError } from '../errors.ts';
import type { Message } from '../wire/message.ts';
import {
  ALL_KINDS,
  definitionOf,
  KINDS,
  NO_LISTS,
  readList,
  type Catalogue,
  type Kind,
  type Listed,
  type Listing,
} from './catalogue.ts';
import { readError } from './handshake.ts';
import { within } from './within.ts';

export interface LiveCatalogueOptions {
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  readonly request: (method: string, params: string) => Promise<Message>;
  /** Takes out of a list of tools what cannot be called. */
  readonly screen?: ((tools: Listing) => Listing) | undefined;
  readonly warn: (text: string) => void;
  /** A list has become another one, or its server says so. */
  changed(kind: Kind): void;
}

interface Reading {
  again: boolean;
  /** The server itself has said that the list has changed. */
  isNews: boolean;
  done: Promise<void>;
}

/** What a server lists, read when it starts and again whenever it says that something has changed. */
export class LiveCatalogue {
  readonly #options: LiveCatalogueOptions;
  readonly #listings: Record<Kind, Listing> = { ...NO_LISTS };
  readonly #reading = new Map<Kind, Reading>();

  constructor(options: LiveCatalogueOptions) {
    this.#options = options;
  }

  get listings(): Catalogue {
    return this.#listings;
  }

  offers(kind: Kind): boolean {
    return this.#options.capabilities[KINDS[kind].capability] !== undefined;
  }

  /** Reads all lists for the first time. That of tools decides; the others may come late or not at all. */
  async loadAll(remainingMs: () => number): Promise<void> {
    const others = ALL_KINDS.filter((kind) => kind !== 'tools').map((kind) => this.#loadQuietly(kind));
    await this.#load('tools');
    await within(remainingMs(), Promise.all(others));
  }

  /** The lists that a `list_changed` notification is about, read again; several notices in a row are one reading. */
  refresh(method: string): void {
    for (const kind of ALL_KINDS) {
      if (method === `notifications/${KINDS[kind].capability}/list_changed`) void this.readAgain(kind, true);
    }
  }

  refreshAll(): void {
    for (const kind of ALL_KINDS) if (this.offers(kind)) void this.readAgain(kind);
  }

  /** Reads one list again; resolves when what it says now is known. */
  async readAgain(kind: Kind, isNews = false): Promise<void> {
    const running = this.#reading.get(kind);
    if (running !== undefined) {
      running.again = true;
      running.isNews ||= isNews;
      return running.done;
    }
    const state = { again: true, isNews, done: Promise.resolve() };
    this.#reading.set(kind, state);
    state.done = this.#readWhile(kind, state);
    return state.done;
  }

  async #loadQuietly(kind: Kind): Promise<void> {
    try {
      await this.#load(kind);
      this.#options.changed(kind);
    } catch (error) {
      // A server may have resources without templates; no capability tells.
      const isMissing = kind === 'templates' && (error as RpcError).code === RpcErrorCode.METHOD_NOT_FOUND;
      if (!isMissing) this.#options.warn(`could not list its ${kind}: ${(error as Error).message}`);
    }
  }

  /** Rejects where the server refuses it. */
  async #load(kind: Kind): Promise<void> {
    if (!this.offers(kind)) return;
    const over = new Deferred<void>();
    const state: Reading = { again: false, isNews: false, done: over.promise };
    this.#reading.set(kind, state);
    try {
      this.#listings[kind] = await this.#read(kind);
    } finally {
      this.#reading.delete(kind);
      // Only now: of two that are read side by side the older might come last, and stay.
      if (state.again) void this.readAgain(kind, state.isNews).then(() => over.resolve());
      else over.resolve();
    }
  }

  async #readWhile(kind: Kind, state: Reading): Promise<void> {
    while (state.again) {
      state.again = false;
      // Oxlint's rule is right in general; here the second reading must come after the first.
      await this.#replace(kind, state);
    }
    this.#reading.delete(kind);
  }

  async #replace(kind: Kind, state: Reading): Promise<void> {
    try {
      const before = this.#listings[kind];
      this.#listings[kind] = await this.#read(kind);
      const isNews = state.isNews;
      state.isNews = false;
      if (isNews || !isSame(before, this.#listings[kind])) this.#options.changed(kind);
    } catch (error) {
      this.#options.warn(`could not list its ${kind} again: ${(error as Error).message}`);
    }
  }

  async #read(kind: Kind): Promise<Listing> {
    const { meta, request, warn, screen } = this.#options;
    const ask = async (method: string, params: string): Promise<Message> => {
      const answer = await request(method, params);
      if (answer.isError) throw readError(answer);
      return answer;
    };
    const listing = await readList(kind, { meta, ask, warn });
    return kind === 'tools' && screen !== undefined ? screen(listing) : listing;
  }
}

function isSame(a: Listing, b: Listing): boolean {
  if (a.items.length !== b.items.length) return false;
  return a.items.every((item, index) => definitionOf(item).equals(definitionOf(b.items[index] as Listed)));
}
