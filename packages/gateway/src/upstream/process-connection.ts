import { Deferred } from '../deferred.ts';
import { quoted, RpcError, RpcErrorCode } from '../errors.ts';
import { escapeUnsafe } from '../log.ts';
import { errorLine, resultLine } from '../wire/answer.ts';
import { BATCH_VERSION, visitBatch } from '../wire/batch.ts';
import { openLink } from '../wire/link.ts';
import type { Message, Unusable } from '../wire/message.ts';
import type { Glimpse, Oversized } from '../wire/oversized.ts';
import { Peer } from '../wire/peer.ts';
import type { Connection, ConnectionOptions } from './connection.ts';
import type { StopTiming } from './process-group.ts';
import type { ServerProcess } from './process.ts';
import { describeExit, Unavailable } from './unavailable.ts';
import { within } from './within.ts';

/** The end of a server's streams is most often that of the server, whose exit says more. */
const LAST_BREATH_MS = 500;
/** How much of what is no message is kept to be shown. */
const LONGEST_NOISE = 200;
const KEPT_NOISE = 5;

/** One process of a server and the conversation with it. */
export class ProcessConnection implements Connection {
  readonly peer: Peer;
  /** A process is its own session. */
  readonly keepsSession: boolean = true;
  readonly #process: ServerProcess;
  readonly #options: ConnectionOptions;
  readonly #lastBreathMs: number;
  readonly #lost = new Deferred<string>();
  readonly #ended = new Deferred<void>();
  #flowing = new Deferred<void>();
  #heard = 0;
  #noise: readonly string[] = [];

  constructor(process: ServerProcess, options: ConnectionOptions, lastBreathMs: number = LAST_BREATH_MS) {
    this.#process = process;
    this.#options = options;
    this.#lastBreathMs = lastBreathMs;
    const link = openLink(
      { ...options, input: process.stdout, output: process.stdin },
      {
        message: (message) => this.#receive(message),
        unusable: (line) => this.#unusable(line),
        takesBatches: () => this.peer.version === BATCH_VERSION,
        oversized: (line) => this.#oversized(line),
        failed: (error) => options.failed(error),
        ended: () => {
          this.#ended.resolve();
          void this.#cutOff('has closed its stdout');
        },
      },
    );
    this.peer = new Peer(link, (error) => options.failed(error));
    process.stdin.once('error', () => void this.#cutOff('has closed its stdin'));
    this.#flowing.resolve();
    void process.exited.then((exit) => this.#exited(describeExit(exit)));
    void this.lost.then((what) => this.fail(what));
  }

  get lost(): Promise<string> {
    return this.#lost.promise;
  }

  get heard(): number {
    return this.#heard;
  }

  fail(what: string): void {
    this.peer.fail(new Unavailable(this.#options.serverKey, what));
  }

  outlive<T>(promised: Promise<T>): Promise<T> {
    const ended = this.#process.exited.then((exit): never => {
      throw new Unavailable(this.#options.serverKey, describeExit(exit));
    });
    return Promise.race([promised, ended]);
  }

  stop(timing?: StopTiming): Promise<void> {
    return this.#process.stop(timing);
  }

  /** The end of its stderr, and of what it wrote to stdout that is no message: a usage text, an address it listens on. */
  lastWords(): string[] {
    const stderr = this.#process.stderrTail().map((line) => `  stderr | ${line}`);
    return [...stderr, ...this.#noise.map((line) => `  stdout | ${line}`)];
  }

  hold(hold: boolean): void {
    if (hold) {
      this.peer.pause();
      if (this.#flowing.isResolved) this.#flowing = new Deferred();
    } else {
      this.peer.resume();
      this.#flowing.resolve();
    }
  }

  /** What it said before its end counts, also where a slow client has held it up. */
  async #exited(how: string): Promise<void> {
    if (!this.#flowing.isResolved) {
      await this.#flowing.promise;
      await within(this.#lastBreathMs, this.#ended.promise);
    }
    this.#lost.resolve(how);
  }

  /** A server that lives on but has shut one of its ends is as good as dead. */
  async #cutOff(what: string): Promise<void> {
    if (await within(this.#lastBreathMs, this.#process.exited)) return;
    this.#lost.resolve(what);
    await this.stop();
  }

  #receive(message: Message): void {
    this.#heard++;
    if (this.peer.take(message)) return;
    if (message.kind === 'notification') this.#options.notification(message);
    else if (message.kind === 'response')
      this.#options.log.debug?.(`answered ${quoted(message.id)}, which nobody waits for`);
    else if (message.method === 'ping') this.peer.send(resultLine(message.id, '{}'));
    else this.#options.request(message);
  }

  #unusable({ reason, bytes, id, meant }: Unusable): void {
    const line = escapeUnsafe(bytes.toString('utf8', 0, LONGEST_NOISE)).trim();
    this.#options.log.debug?.(`wrote to stdout what is no message: ${line}`);
    if (line !== '') this.#noise = [...this.#noise, line].slice(-KEPT_NOISE);
    const why = 'sent something that is no JSON-RPC message';
    if (reason !== 'batch') return this.#refuse({ id, meant }, why);
    visitBatch(bytes, (part) => {
      if (part.kind === 'request' || part.kind === 'response')
        this.#refuse({ id: part.id, meant: part.kind }, why);
    });
  }

  #oversized({ id, meant, size }: Oversized): void {
    const { maxMessageSize, log } = this.#options;
    const text = `sent a message of ${size} bytes, over the limit of ${maxMessageSize}; raise --max-message-size to let it pass`;
    log.warn(text);
    this.#refuse({ id, meant }, text);
  }

  /** The one call that it would have answered fails; a request of the server's is answered with why. */
  #refuse({ id, meant }: Glimpse, why: string): void {
    if (id === undefined) return;
    if (meant === 'response') return this.peer.lose(id, new Unavailable(this.#options.serverKey, why));
    if (meant !== 'request') return;
    this.peer.send(errorLine(id, new RpcError(RpcErrorCode.INVALID_REQUEST, `The server ${why}`)));
  }
}
