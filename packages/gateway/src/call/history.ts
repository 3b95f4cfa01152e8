import { redactedBy } from '../config/redact.ts';
import type { Message } from '../wire/message.ts';
import { decode } from '../wire/splice.ts';
import { failureIn } from './failure.ts';
import type {
  ErrorInfo,
  FinalStatus,
  InvocationSource,
  InvocationStatus,
  ToolInvocationRequest,
} from './invocation.ts';

/** Where finished calls go that are to be kept; nothing in it may take time. */
interface HistorySink {
  add(entry: { line(): string }): void;
  flush(): Promise<void>;
}

export interface HistoryOptions {
  readonly now: () => number;
  /** The first part of every id, unlike that of any other gateway. */
  readonly prefix: string;
  /** Takes out of a text what nobody may read. */
  readonly redact: (text: string) => string;
  /** Keeps the arguments of calls as well. */
  readonly keepsArguments?: boolean;
  /** Without one only memory knows. */
  readonly sink?: HistorySink | undefined;
}

/** What a call is about. */
export interface Subject {
  readonly serverId: string;
  /** The name of the tool as JSON, one character a byte. */
  readonly toolText: string;
  readonly source: InvocationSource;
  /** The arguments as JSON, one character a byte. */
  readonly argumentsText?: string | undefined;
}

/** How many calls memory knows. */
const KEPT = 1000;
/** Of arguments that are kept. */
const LONGEST_ARGUMENTS = 4096;

/** Every call of a tool: the last ones in memory, all of them where there is a place for that. */
export class History {
  readonly options: HistoryOptions;
  readonly #ring: (Invocation | undefined)[] = Array.from({ length: KEPT }, () => undefined);
  readonly #followers = new Set<(record: ToolInvocationRequest) => void>();
  #count = 0;

  constructor(options: HistoryOptions) {
    this.options = options;
  }

  /** How many calls there were. */
  get count(): number {
    return this.#count;
  }

  get keepsArguments(): boolean {
    return this.options.keepsArguments === true;
  }

  begin(subject: Subject): Invocation {
    const number = ++this.#count;
    const invocation = new Invocation(this, subject, number);
    this.#ring[number % KEPT] = invocation;
    return invocation;
  }

  /** The last ones, oldest first, those under way included. */
  recent(): ToolInvocationRequest[] {
    const after = (this.#count + 1) % KEPT;
    return [...this.#ring.slice(after), ...this.#ring.slice(0, after)].flatMap(
      (invocation) => invocation?.record() ?? [],
    );
  }

  /** Tells of every call that ends from now on, until what is returned is called. */
  follow(listener: (record: ToolInvocationRequest) => void): () => void {
    this.#followers.add(listener);
    return () => void this.#followers.delete(listener);
  }

  ended(invocation: Invocation): void {
    this.options.sink?.add(invocation);
    for (const tell of this.#followers) tell(invocation.record());
  }

  /** Resolves when everything that was to be kept has been written. */
  async close(): Promise<void> {
    await this.options.sink?.flush();
  }
}

/** One call. It is made for every one: what only readers need is worked out when they read. */
export class Invocation {
  readonly #history: History;
  readonly #subject: Subject;
  readonly #number: number;
  readonly #submittedAt: number;
  #status: InvocationStatus = 'pending';
  #startedAt = 0;
  #completedAt = 0;
  #retryAttempt = 0;
  #maxRetries = 0;
  #failure: ErrorInfo | undefined;

  constructor(history: History, subject: Subject, number: number) {
    this.#history = history;
    this.#subject = subject;
    this.#number = number;
    this.#submittedAt = history.options.now();
  }

  get id(): string {
    return `${this.#history.options.prefix}-${this.#number}`;
  }

  /** It has been sent; what is sent in further rounds of the same call changes nothing. */
  started(): void {
    if (this.#status !== 'pending') return;
    this.#status = 'executing';
    this.#startedAt = this.#history.options.now();
  }

  /** It is to be sent once more. */
  retried(maxRetries: number): void {
    this.#status = 'pending';
    this.#failure = undefined;
    this.#retryAttempt++;
    this.#maxRetries = maxRetries;
  }

  /** What the server says may be a failure; the call may go on even so. */
  answered(answer: Message): void {
    this.#failure = failureIn(answer);
  }

  /** The error, if one is given, is what the client was told instead of the server's answer. */
  ended(status: FinalStatus, error?: ErrorInfo): void {
    if (this.#completedAt !== 0) return;
    if (error !== undefined) this.#failure = { message: error.message, ...codeOf(error) };
    this.#status = status === 'success' && this.#failure !== undefined ? 'error' : status;
    this.#completedAt = this.#history.options.now();
    this.#history.ended(this);
  }

  record(): ToolInvocationRequest {
    const { serverId, toolText, source, argumentsText } = this.#subject;
    return {
      id: this.id,
      serverId,
      toolName: decode(toolText),
      ...(argumentsText !== undefined && { parameters: this.#arguments(argumentsText) }),
      source,
      status: this.#status,
      submittedAt: this.#submittedAt,
      ...(this.#startedAt !== 0 && { startedAt: this.#startedAt }),
      ...(this.#completedAt !== 0 && { completedAt: this.#completedAt }),
      retryAttempt: this.#retryAttempt,
      maxRetries: this.#maxRetries,
      ...(this.#failure !== undefined && { error: this.#redacted(this.#failure) }),
    };
  }

  /** The record as JSON. Most calls end well, and nothing in the text of theirs takes work. */
  line(): string {
    const { serverId, toolText, source, argumentsText } = this.#subject;
    if (
      this.#failure !== undefined ||
      argumentsText !== undefined ||
      this.#startedAt === 0 ||
      !isAscii(toolText)
    )
      return JSON.stringify(this.record());
    const what = `"serverId":${JSON.stringify(serverId)},"toolName":${toolText},"source":"${source}"`;
    const times = `"submittedAt":${this.#submittedAt},"startedAt":${this.#startedAt},"completedAt":${this.#completedAt}`;
    const attempts = `"retryAttempt":${this.#retryAttempt},"maxRetries":${this.#maxRetries}`;
    return `{"id":"${this.id}",${what},"status":"${this.#status}",${times},${attempts}}`;
  }

  #arguments(text: string): Record<string, unknown> {
    return readArguments(text, redactedBy(this.#history.options.redact));
  }

  #redacted({ message, ...rest }: ErrorInfo): ErrorInfo {
    return { message: this.#history.options.redact(message), ...rest };
  }
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function codeOf({ code }: ErrorInfo): { code?: number } {
  return code === undefined ? {} : { code };
}

/** Long ones are not kept: a history is no archive. */
function readArguments(text: string, reviver: ReturnType<typeof redactedBy>): Record<string, unknown> {
  if (text.length > LONGEST_ARGUMENTS) return { '…': `${text.length} bytes` };
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'), reviver) as Record<string, unknown>;
}
