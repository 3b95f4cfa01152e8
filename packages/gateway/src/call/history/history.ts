import { hex } from '@weir/server/internal';
import { ClientNames } from './client-names.ts';
import { Invocation, type BatchTexts, type Subject } from './invocation-record.ts';
import type { FinalStatus, InvocationSource, ToolInvocationRequest } from './invocation.ts';
import { KeptResults } from './kept-results.ts';

/** Receives finished calls as lines of JSON. `append` must not block. */
interface HistorySink {
  append(lines: string): void;
  flush(): Promise<void>;
}

export interface HistoryOptions {
  readonly now: () => number;
  /** The first 24 characters of every id, unlike those of any other gateway; the number of the call follows. */
  readonly prefix: string;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** Keeps the arguments of calls as well. */
  readonly keepsArguments?: boolean;
  /** false where no caller reads the content of results, so that it is not kept. */
  readonly keepsResults?: boolean | undefined;
  /** Without one only memory knows. */
  readonly sink?: HistorySink | undefined;
}

/** Finished calls in memory, and the highest number of those in flight. */
const KEPT = 1000;
/** Lines wait this long for others to be written with, and for no more than so many. */
const BATCH_MS = 250;
const BATCH_LINES = 900;

/** Every call of a tool: the last ones in memory, all of them where there is a place for that. */
export class History {
  readonly options: HistoryOptions;
  /** Gets every call that ends, with the milliseconds since it was sent. */
  onEnded: ((serverKey: string, status: FinalStatus, milliseconds: number) => void) | undefined;
  readonly #followers = new Set<(record: ToolInvocationRequest) => void>();
  /** Those under way, each in the place of its number. */
  readonly #underWay: (Invocation | undefined)[] = [];
  /** The last that ended, copied: objects kept for so long would cost the collector more than the calls themselves. */
  readonly #over: Invocation[] = [];
  readonly clients: ClientNames = new ClientNames();
  readonly results: KeptResults = new KeptResults();
  readonly #executed = new Map<InvocationSource, number>();
  #count = 0;
  #ended = 0;
  #unwritten = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HistoryOptions) {
    this.options = options;
  }

  /** Returns how many calls were sent to a server, of all sources or of one; refused calls were not. */
  executed(source?: InvocationSource): number {
    if (source !== undefined) return this.#executed.get(source) ?? 0;
    return [...this.#executed.values()].reduce((sum, count) => sum + count, 0);
  }

  get keepsArguments(): boolean {
    return this.options.keepsArguments === true;
  }

  get keepsResults(): boolean {
    return this.options.keepsResults !== false;
  }

  begin(subject: Subject): Invocation {
    const invocation = new Invocation(this, subject, ++this.#count, this.options.now());
    this.#underWay[this.#count % KEPT] = invocation;
    return invocation;
  }

  /** Returns the last calls, oldest first, those in flight included; without the content of results where that is not wanted. */
  recent({ withContent = true }: { withContent?: boolean } = {}): ToolInvocationRequest[] {
    const known = [...this.#over, ...this.#underWay].filter((invocation) => invocation !== undefined);
    const oldestFirst = known.toSorted((one, other) => one.number - other.number);
    return oldestFirst.slice(-KEPT).map((invocation) => invocation.record(withContent));
  }

  sent(source: InvocationSource): void {
    this.#executed.set(source, this.executed(source) + 1);
  }

  /** Tells of every call that ends from now on, without the content of its result, until what is returned is called. */
  follow(listener: (record: ToolInvocationRequest) => void): () => void {
    this.#followers.add(listener);
    return () => void this.#followers.delete(listener);
  }

  ended(invocation: Invocation): void {
    const place = invocation.number % KEPT;
    if (this.#underWay[place] === invocation) this.#underWay[place] = undefined;
    (this.#over[this.#ended++ % KEPT] ??= Invocation.blank(this)).become(invocation);
    if (this.options.sink !== undefined) this.#writeLater();
    for (const tell of this.#followers) tell(invocation.record(false));
  }

  /** Resolves when everything that was to be kept has been written. */
  async close(): Promise<void> {
    do {
      this.#write();
      await this.options.sink?.flush();
      // A call may have ended meanwhile.
    } while (this.#unwritten > 0);
  }

  #writeLater(): void {
    this.#unwritten++;
    this.#timer ??= setTimeout(() => this.#write(), BATCH_MS).unref();
    // Putting lines together takes time: not in the middle of a call, unless the next would take the first one's place.
    if (this.#unwritten === BATCH_LINES) setImmediate(() => this.#write());
    if (this.#unwritten === KEPT) this.#write();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let lines = '';
    const texts: BatchTexts = { subjects: new Map(), end: undefined };
    for (; this.#unwritten > 0; this.#unwritten--)
      lines += this.#over[(this.#ended - this.#unwritten) % KEPT]?.line(texts);
    if (lines !== '') this.options.sink?.append(lines);
  }
}

/** Digits of each group of a UUID that are random; the last group is left to the caller's counter. */
const UUID_GROUPS = [8, 4, 3, 3] as const;
const UUID_VARIANTS = '89ab';

/**
 * Returns the first 24 characters of a UUID, of which 74 bits are random. The 12 digits that complete it may count up.
 * `random` is a number from 0 to 1: ids need not be secret, and loading `node:crypto` takes longer than the rest of the start.
 */
export function uuidPrefix(random: () => number): string {
  const [one, two, three, four] = UUID_GROUPS.map((length) =>
    hex(Math.floor(random() * 16 ** length), length),
  );
  return `${one}-${two}-4${three}-${UUID_VARIANTS[Math.floor(random() * 4)]}${four}-`;
}
