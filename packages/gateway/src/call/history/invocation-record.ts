import { LONGEST_NOTED, redactedBy } from '../../config/redact.ts';
import { quoted } from '../../errors.ts';
import { startOf } from '../../shorten.ts';
import { isAscii } from '../../wire/json/latin1.ts';
import { readStart } from '../../wire/json/members.ts';
import { decode, encode } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { CallObserver, CallOutcome } from '../relay.ts';
import { failureIn, outlineOf, wholeResult, type Outline } from './execution-result.ts';
import type { History } from './history.ts';
import type {
  ErrorInfo,
  InvocationSource,
  InvocationStatus,
  ToolExecutionResult,
  ToolInvocationRequest,
} from './invocation.ts';

/** Server, tool and caller of a call. */
export interface Subject {
  readonly serverId: string;
  /** The name of the tool as JSON, one character a byte. */
  readonly toolText: string;
  readonly source: InvocationSource;
  /** The `clientInfo` of the client as JSON, one character a byte. */
  readonly clientText?: string | undefined;
  /** 3 where the call may be repeated, else 0. */
  readonly maxRetries?: number;
  /** The arguments as JSON, one character a byte. */
  readonly argumentsText?: string | undefined;
}

/** Texts that lines of one batch share, each with a call that has it. */
export interface BatchTexts {
  /** By the name of the tool. */
  readonly subjects: Map<string, { readonly of: Invocation; readonly text: string | undefined }>;
  end: { readonly of: Invocation; readonly text: string } | undefined;
}

const NOTHING: Subject = { serverId: '', toolText: '""', source: 'mcp-client' };

/** Bytes of arguments that are kept. */
const LONGEST_ARGUMENTS = 4096;
/** Bytes of a tool's name as JSON, of which 200 characters are kept where it has more: servers choose their names. */
const LONGEST_NAME = 1600;

/** Record of one call. Every call creates one, so work that only readers need is done when they read. */
export class Invocation implements CallObserver {
  readonly #history: History;
  #number: number;
  #serverId: string;
  #toolText: string;
  #source: InvocationSource;
  #clientText: string | undefined;
  #argumentsText: string | undefined;
  #submittedAt: number;
  #status: InvocationStatus = 'pending';
  #startedAt = 0;
  #completedAt = 0;
  #retryAttempt = 0;
  #maxRetries = 0;
  #failure: ErrorInfo | undefined;
  /** The last answer of the server, until the call ends. */
  #answer: Message | undefined;
  #outline: Outline | undefined;
  /** Place and length of the result among those that are kept. */
  #resultAt = -1;
  #resultLength = 0;

  constructor(history: History, subject: Subject, number: number, submittedAt: number) {
    this.#history = history;
    this.#number = number;
    this.#serverId = subject.serverId;
    this.#toolText = shortName(subject.toolText);
    this.#source = subject.source;
    this.#clientText = subject.clientText;
    this.#maxRetries = subject.maxRetries ?? 0;
    this.#argumentsText = subject.argumentsText && shortArguments(subject.argumentsText);
    this.#submittedAt = submittedAt;
  }

  /** One that is to become others. */
  static blank(history: History): Invocation {
    return new Invocation(history, NOTHING, 0, 0);
  }

  become(other: Invocation): void {
    this.#number = other.#number;
    this.#serverId = other.#serverId;
    this.#toolText = other.#toolText;
    this.#source = other.#source;
    this.#clientText = other.#clientText;
    this.#argumentsText = other.#argumentsText;
    this.#submittedAt = other.#submittedAt;
    this.#status = other.#status;
    this.#startedAt = other.#startedAt;
    this.#completedAt = other.#completedAt;
    this.#retryAttempt = other.#retryAttempt;
    this.#maxRetries = other.#maxRetries;
    this.#failure = other.#failure;
    this.#outline = other.#outline;
    this.#resultAt = other.#resultAt;
    this.#resultLength = other.#resultLength;
  }

  get number(): number {
    return this.#number;
  }

  get id(): string {
    return this.#history.options.prefix + this.#number.toString(16).padStart(12, '0');
  }

  /** Notes that it was sent; further rounds of the same call change nothing. */
  sent(): void {
    if (this.#status !== 'pending') return;
    this.#status = 'executing';
    if (this.#startedAt === 0) this.#history.sent(this.#source);
    this.#startedAt = this.#history.options.now();
  }

  /** Begins the next attempt. */
  #retried(): void {
    this.#status = 'pending';
    this.#failure = undefined;
    this.#answer = undefined;
    this.#retryAttempt++;
  }

  /** Notes an answer of the server. The answer may be an error that does not end the call. */
  answered(answer: Message): void {
    this.#failure = failureIn(answer);
    this.#answer = answer;
  }

  /** Ends it, or this attempt. `error` is what the client got instead of the server's answer. */
  ended(outcome: CallOutcome, error?: ErrorInfo): void {
    if (this.#completedAt !== 0) return;
    if (outcome === 'retried') return this.#retried();
    if (error !== undefined)
      this.#failure = { message: startOf(error.message, LONGEST_NOTED), ...codeOf(error) };
    this.#status = outcome === 'success' && this.#failure !== undefined ? 'error' : outcome;
    this.#completedAt = this.#history.options.now();
    if (this.#answer !== undefined && this.#status === 'success') this.#keep(this.#answer);
    this.#answer = undefined;
    const { onEnded } = this.#history;
    if (onEnded !== undefined)
      onEnded(this.#serverId, this.#status, this.#startedAt === 0 ? 0 : this.#completedAt - this.#startedAt);
    this.#history.ended(this);
  }

  #keep({ body, bytes, bodyAt, bodyEnd }: Message): void {
    if (body === undefined) return;
    this.#outline = outlineOf(body);
    if (!this.#history.keepsResults) return;
    this.#resultAt = this.#history.results.keep(bytes, bodyAt, bodyEnd);
    this.#resultLength = bodyEnd - bodyAt;
  }

  record(withContent: boolean): ToolInvocationRequest {
    const argumentsText = this.#argumentsText;
    const client = this.#history.clients.of(this.#clientText);
    const result = withContent ? this.#wholeResult() : this.#result();
    return {
      id: this.id,
      serverId: this.#serverId,
      toolName: decode(this.#toolText),
      ...(argumentsText !== undefined && { parameters: this.#arguments(argumentsText) }),
      source: this.#source,
      ...(client !== undefined && { client }),
      status: this.#status,
      submittedAt: this.#submittedAt,
      ...(this.#startedAt !== 0 && { startedAt: this.#startedAt }),
      ...(this.#completedAt !== 0 && { completedAt: this.#completedAt }),
      retryAttempt: this.#retryAttempt,
      maxRetries: this.#maxRetries,
      ...(result !== undefined && { result }),
      ...(this.#failure !== undefined && { error: this.#redacted(this.#failure) }),
    };
  }

  /** The record as a line of JSON. Most calls end well, and share the text of others in the same batch. */
  line(texts: BatchTexts): string {
    const isPlain = this.#failure === undefined && this.#argumentsText === undefined && this.#startedAt !== 0;
    const subject = isPlain ? this.#subjectText(texts) : undefined;
    if (subject === undefined) return `${JSON.stringify(this.record(false))}\n`;
    return `{"id":"${this.id}",${subject}${this.#endText(texts)}`;
  }

  /** Returns the members that tell who has called what; undefined where the name of the tool takes work. */
  #subjectText({ subjects }: BatchTexts): string | undefined {
    const known = subjects.get(this.#toolText);
    if (known !== undefined && this.#hasSubjectOf(known.of)) return known.text;
    const text = isAscii(this.#toolText) ? this.#newSubjectText() : undefined;
    subjects.set(this.#toolText, { of: this, text });
    return text;
  }

  #hasSubjectOf(other: Invocation): boolean {
    return (
      this.#serverId === other.#serverId &&
      this.#source === other.#source &&
      this.#clientText === other.#clientText
    );
  }

  #newSubjectText(): string {
    const server = JSON.stringify(this.#serverId);
    const client = this.#history.clients.jsonOf(this.#clientText);
    return joined(`"serverId":${server},"toolName":${this.#toolText},"source":"${this.#source}"`, client);
  }

  /** Returns the other members, which are the same for many calls of one millisecond. */
  #endText(texts: BatchTexts): string {
    if (texts.end === undefined || !this.#endsLike(texts.end.of))
      texts.end = { of: this, text: this.#newEndText() };
    return texts.end.text;
  }

  #endsLike(other: Invocation): boolean {
    return (
      this.#submittedAt === other.#submittedAt &&
      this.#startedAt === other.#startedAt &&
      this.#completedAt === other.#completedAt &&
      this.#status === other.#status &&
      this.#retryAttempt === other.#retryAttempt &&
      this.#maxRetries === other.#maxRetries &&
      this.#outline === other.#outline
    );
  }

  #newEndText(): string {
    const times = `"submittedAt":${this.#submittedAt},"startedAt":${this.#startedAt},"completedAt":${this.#completedAt}`;
    const attempts = `"retryAttempt":${this.#retryAttempt},"maxRetries":${this.#maxRetries}`;
    return joined(`,"status":"${this.#status}",`, times, ',', attempts, this.#resultMember(), '}\n');
  }

  #resultMember(): string {
    const { contentType, executionDuration, tokensUsed } = this.#result() ?? {};
    if (contentType === undefined) return '';
    const tokens = tokensUsed === undefined ? '' : `,"tokensUsed":${tokensUsed}`;
    return `,"result":{"contentType":"${contentType}","executionDuration":${executionDuration}${tokens}}`;
  }

  /** Returns what is known of the result without its content, which stays out of the files. */
  #result(): ToolExecutionResult | undefined {
    if (this.#outline === undefined) return undefined;
    // A clock of whole milliseconds takes the shortest calls for none.
    const executionDuration = Math.max(1, this.#completedAt - this.#startedAt);
    return { content: undefined, executionDuration, ...this.#outline };
  }

  #wholeResult(): ToolExecutionResult | undefined {
    const result = this.#result();
    const bytes = this.#history.results.read(this.#resultAt, this.#resultLength);
    return result && bytes ? { ...result, ...wholeResult(bytes) } : result;
  }

  #arguments(text: string): Record<string, unknown> {
    return readArguments(text, redactedBy(this.#history.options.redact));
  }

  #redacted({ message, ...rest }: ErrorInfo): ErrorInfo {
    return { message: this.#history.options.redact(message), ...rest };
  }
}

/** Joins texts. The sum of texts is put together only when it is read, which takes longer where it is part of many lines. */
function joined(...texts: readonly string[]): string {
  return texts.join('');
}

function codeOf({ code }: ErrorInfo): { code?: number } {
  return code === undefined ? {} : { code };
}

/** Returns the name of a tool as JSON, cut where it is long. */
function shortName(text: string): string {
  if (text.length <= LONGEST_NAME) return text;
  const bytes = Buffer.from(text.slice(0, LONGEST_NAME), 'latin1');
  return encode(quoted(readStart(bytes, 0, text.length, LONGEST_NAME) ?? ''));
}

/** Returns arguments as JSON, or their length where they are too long for the memory of the history. */
function shortArguments(text: string): string {
  return text.length <= LONGEST_ARGUMENTS ? text : encode({ '…': `${text.length} bytes` });
}

function readArguments(text: string, reviver: ReturnType<typeof redactedBy>): Record<string, unknown> {
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'), reviver) as Record<string, unknown>;
}
