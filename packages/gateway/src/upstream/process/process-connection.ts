import { quoted } from '../../errors.ts';
import { escapeUnsafe, type Log } from '../../log.ts';
import { Method } from '../../protocol/methods.ts';
import { Deferred } from '../../time/deferred.ts';
import { within } from '../../time/timeouts.ts';
import { resultLine } from '../../wire/answer.ts';
import { BATCH_VERSION, visitBatch } from '../../wire/batch.ts';
import { openLink } from '../../wire/link.ts';
import type { Message, InvalidInput } from '../../wire/message.ts';
import { Peer } from '../../wire/peer.ts';
import {
  refuseInvalid,
  refuseOversized,
  type Connection,
  type ConnectionOptions,
  type OpenOptions,
} from '../connection.ts';
import { describeExit, Unavailable } from '../unavailable.ts';
import type { StopTiming } from './process-group.ts';
import { spawnServer, type ServerProcess, type ServerSpec } from './spawn.ts';
import { startInTurn } from './start-slots.ts';

/** The end of a server's streams is most often that of the server, whose exit says more. */
const OUTPUT_DRAIN_MS = 500;
/** Bytes of a line on stdout that is not a message, as shown in errors. */
const LONGEST_NOISE = 200;
const KEPT_NOISE = 5;

/** Time between a start and the check of its files, in milliseconds: the first lists do not wait for it. */
const CHECK_PLACE_MS = 5000;

/** Starts a server as a process, when a start slot is free. */
export async function openProcess(options: OpenOptions): Promise<Connection> {
  const { config, log, guard, slots, environmentOf, isClientFolder } = options;
  const { command = '', args = [], cwd } = config;
  const spec = { command, args, env: environmentOf(config), cwd, isClientFolder };
  const process = await startInTurn(slots, () => {
    if (options.isStopped()) throw new Error('was stopped while its start was queued');
    return spawnServer(spec, { guard: guard(), onStderrLine: (line) => log.info(line) });
  });
  log.debug?.(`started as process ${process.pid}`);
  setTimeout(() => void warnOfOpenPlace(spec, log), CHECK_PLACE_MS).unref();
  return new ProcessConnection(process, options);
}

async function warnOfOpenPlace(spec: ServerSpec, log: Log): Promise<void> {
  const { openPlace } = await import('./open-place.ts');
  const place = openPlace(spec);
  if (place === undefined) return;
  log.warn(
    `every user of this machine can write to ${place}, from which it is started. Run: chmod o-w ${place}`,
  );
}

/** One process of a server and the conversation with it. */
export class ProcessConnection implements Connection {
  readonly peer: Peer;
  /** A process is its own session. */
  readonly keepsSession: boolean = true;
  readonly #process: ServerProcess;
  readonly #options: ConnectionOptions;
  readonly #outputDrainMs: number;
  readonly #lost = new Deferred<string>();
  readonly #ended = new Deferred<void>();
  #flowing = new Deferred<void>();
  #heard = 0;
  #noise: readonly string[] = [];

  constructor(process: ServerProcess, options: ConnectionOptions, outputDrainMs: number = OUTPUT_DRAIN_MS) {
    this.#process = process;
    this.#options = options;
    this.#outputDrainMs = outputDrainMs;
    const link = openLink(
      { ...options, input: process.stdout, output: process.stdin },
      {
        message: (message) => this.#receive(message),
        invalid: (line) => this.#invalid(line),
        takesBatches: () => this.peer.version === BATCH_VERSION,
        isAwaited: () => this.peer.isAwaited,
        oversized: (line) => refuseOversized(this.peer, this.#options, line),
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

  raceExit<T>(promised: Promise<T>): Promise<T> {
    const ended = this.#process.exited.then((exit): never => {
      throw new Unavailable(this.#options.serverKey, describeExit(exit));
    });
    return Promise.race([promised, ended]);
  }

  stop(timing?: StopTiming): Promise<void> {
    return this.#process.stop(timing);
  }

  /** Returns the end of its stderr, and of the lines on stdout that are not messages, such as a usage text. */
  outputTail(): string[] {
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

  /** Reports the exit after all output has been read, also where a slow client holds that up. */
  async #exited(how: string): Promise<void> {
    if (!this.#flowing.isResolved) {
      await this.#flowing.promise;
      await within(this.#outputDrainMs, this.#ended.promise);
    }
    this.#lost.resolve(how);
  }

  /** A server that lives on but has shut one of its ends is as good as dead. */
  async #cutOff(what: string): Promise<void> {
    if (await within(this.#outputDrainMs, this.#process.exited)) return;
    this.#lost.resolve(what);
    await this.stop();
  }

  #receive(message: Message): void {
    this.#heard++;
    if (this.peer.take(message)) return;
    if (message.kind === 'notification') this.#options.notification(message);
    else if (message.kind === 'response')
      this.#options.log.debug?.(`answered ${quoted(message.id)}, which no request waits for`);
    else if (message.method === Method.PING) this.peer.reply(resultLine(message.id, '{}'));
    else this.#options.request(message);
  }

  #invalid(line: InvalidInput): void {
    const start = escapeUnsafe(line.bytes.toString('utf8', 0, LONGEST_NOISE)).trim();
    this.#options.log.debug?.(`wrote something other than a message to stdout: ${start}`);
    if (start !== '') this.#noise = [...this.#noise, start].slice(-KEPT_NOISE);
    if (line.reason !== 'batch') return refuseInvalid(this.peer, this.#options, line);
    visitBatch(line.bytes, (part) => refuseInvalid(this.peer, this.#options, asInvalid(part)));
  }
}

/** A message of a batch that the server's revision does not know. */
function asInvalid(part: Message | InvalidInput): InvalidInput {
  if (part.kind === 'invalid') return part;
  const likelyKind = part.kind === 'response' ? part.kind : 'request';
  return { kind: 'invalid', reason: 'batch', bytes: part.bytes, id: part.id || undefined, likelyKind };
}
