// A client that speaks raw lines over a pair of streams and keeps every byte that comes back.
import type { Readable, Writable } from 'node:stream';

export type Json = Record<string, unknown>;

/** A message as it came over the wire. */
export interface Received {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface Waiting {
  matches(message: Received): boolean;
  take(message: Received): void;
}

/** Generous, because test files share the machine. */
export const PATIENCE_MS = 30_000;

const NEWLINE = 0x0a;

export interface LineClientOptions {
  /** The stream that the client writes to. */
  readonly input: Writable;
  /** The stream that the client reads from. */
  readonly output: Readable;
  /** Settles when nothing more can come. */
  readonly over: Promise<unknown>;
}

export class LineClient {
  /** Every line that came, exactly as it was written. */
  readonly lines: string[] = [];
  readonly #input: Writable;
  readonly #over: Promise<unknown>;
  readonly #messages: Received[] = [];
  readonly #untaken: Received[] = [];
  readonly #waiting = new Set<Waiting>();
  #rest: Buffer[] = [];
  #lastId = 0;

  constructor({ input, output, over }: LineClientOptions) {
    this.#input = input;
    this.#over = over;
    output.on('data', (chunk: Buffer) => this.#cut(chunk));
    output.once('end', () => this.#rest.length > 0 && this.#cut(Buffer.from('\n')));
  }

  /** Every line that is JSON, in order. */
  get messages(): readonly Received[] {
    return this.#messages;
  }

  /** One line: an object is written as JSON-RPC 2.0, a text or bytes as they are. */
  send(message: Json | string | Buffer): void {
    const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
    this.#input.write(isRaw ? message : JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.#input.write('\n');
  }

  notify(method: string, params?: Json): void {
    this.send({ method, ...(params && { params }) });
  }

  /** Sends a request and waits for its answer, be it a result or an error. */
  request(method: string, params: Json = {}): Promise<Received> {
    const id = ++this.#lastId;
    this.send({ id, method, params });
    return this.answer(id);
  }

  /** The answer to a request that was sent by hand. */
  answer(id: string | number): Promise<Received> {
    return this.next((message) => message.id === id && message.method === undefined, `the answer to ${id}`);
  }

  /** The next request or notification of this method, one that has already come included. */
  call(method: string): Promise<Received> {
    return this.next((message) => message.method === method, method);
  }

  /** Takes the first message that matches and was not taken yet. */
  next(matches: (message: Received) => boolean, what = 'a message'): Promise<Received> {
    const found = this.#untaken.findIndex(matches);
    if (found >= 0) return Promise.resolve(this.#untaken.splice(found, 1)[0] as Received);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(new Error(`${what} did not come within ${PATIENCE_MS} ms\n${this.story()}`));
      }, PATIENCE_MS);
      const waiting: Waiting = {
        matches,
        take: (message) => {
          clearTimeout(timer);
          resolve(message);
        },
      };
      this.#waiting.add(waiting);
      const ended = (): void => {
        clearTimeout(timer);
        if (this.#waiting.delete(waiting))
          reject(new Error(`${what} never came, the gateway has ended\n${this.story()}`));
      };
      void this.#over.then(ended, ended);
    });
  }

  /** Makes the legacy handshake. */
  async initialize(capabilities: Json = {}, protocolVersion = '2025-11-25'): Promise<Received> {
    const clientInfo = { name: 'test', version: '1.2.3' };
    const answer = await this.request('initialize', { protocolVersion, capabilities, clientInfo });
    this.notify('notifications/initialized');
    return answer;
  }

  /** Opens the conversation and returns the public names of the tools, in order. */
  async tools(): Promise<string[]> {
    if (this.#lastId === 0) await this.initialize();
    const answer = await this.request('tools/list');
    return itemsOf<{ name: string }>(answer, 'tools').map(({ name }) => name);
  }

  callTool(name: string, args: Json = {}): Promise<Received> {
    return this.request('tools/call', { name, arguments: args });
  }

  /** Returns the last lines, for the error of a failed test. */
  protected story(): string {
    const lines = this.lines.slice(-10).map((line) => (line.length > 300 ? `${line.slice(0, 300)} …` : line));
    return `last lines of stdout:\n${lines.join('\n')}`;
  }

  /** Only a newline ends a line: readline would also cut at U+2028. */
  #cut(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#receive(Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString('utf8'));
      this.#rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
  }

  #receive(line: string): void {
    this.lines.push(line);
    const message = parse(line);
    if (message === undefined) return;
    this.#messages.push(message);
    const waiting = [...this.#waiting].find(({ matches }) => matches(message));
    if (waiting === undefined) return void this.#untaken.push(message);
    this.#waiting.delete(waiting);
    waiting.take(message);
  }
}

/** A list in a result; an answer without one fails the test with what it says instead. */
export function itemsOf<Item>({ result, error }: Received, key: string): Item[] {
  const items = result?.[key];
  if (!Array.isArray(items)) throw new Error(`No ${key} in ${JSON.stringify(error ?? result)}`);
  return items as Item[];
}

function parse(line: string): Received | undefined {
  try {
    return JSON.parse(line) as Received;
  } catch {
    return undefined;
  }
}
