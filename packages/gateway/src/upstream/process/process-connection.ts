import type { Log } from '../../log.ts';
import { within } from '../../time/timeouts.ts';
import type { Connection, ConnectionOptions, OpenOptions } from '../connection.ts';
import { LineConnection } from '../line-connection.ts';
import { describeExit, Unavailable } from '../unavailable.ts';
import type { StopTiming } from './process-group.ts';
import { spawnServer, type ServerProcess, type ServerSpec } from './spawn.ts';
import { startInTurn } from './start-slots.ts';

/** The end of a server's streams is most often that of the server, whose exit says more. */
const OUTPUT_DRAIN_MS = 500;

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
export class ProcessConnection extends LineConnection {
  readonly #process: ServerProcess;
  readonly #outputDrainMs: number;

  constructor(process: ServerProcess, options: ConnectionOptions, outputDrainMs: number = OUTPUT_DRAIN_MS) {
    super({ input: process.stdout, output: process.stdin }, options);
    this.#process = process;
    this.#outputDrainMs = outputDrainMs;
    void this.ended.promise.then(() => this.#cutOff('has closed its stdout'));
    process.stdin.once('error', () => void this.#cutOff('has closed its stdin'));
    void process.exited.then((exit) => this.#exited(describeExit(exit)));
  }

  raceExit<T>(promised: Promise<T>): Promise<T> {
    const ended = this.#process.exited.then((exit): never => {
      throw new Unavailable(this.options.serverKey, describeExit(exit));
    });
    return Promise.race([promised, ended]);
  }

  stop(timing?: StopTiming): Promise<void> {
    return this.#process.stop(timing);
  }

  /** Returns the end of its stderr, and of the lines on stdout that are not messages. */
  override outputTail(): string[] {
    return [...this.#process.stderrTail().map((line) => `  stderr | ${line}`), ...super.outputTail()];
  }

  /** Reports the exit after all output has been read, also where a slow client holds that up. */
  async #exited(how: string): Promise<void> {
    if (!this.flowing.isResolved) {
      await this.flowing.promise;
      await within(this.#outputDrainMs, this.ended.promise);
    }
    this.lose(how);
  }

  /** A server that lives on but has shut one of its ends is as good as dead. */
  async #cutOff(what: string): Promise<void> {
    if (await within(this.#outputDrainMs, this.#process.exited)) return;
    this.lose(what);
    await this.stop();
  }
}
