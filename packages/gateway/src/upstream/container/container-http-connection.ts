import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { shownAddress } from '../../config/redact.ts';
import { now } from '../../time/clock.ts';
import type { Peer } from '../../wire/peer.ts';
import type { Listing } from '../catalogue/catalogue.ts';
import type { Connection, ConnectionOptions } from '../connection.ts';
import { readLines, OutputTail } from '../process/output-tail.ts';
import type { StopTiming } from '../process/process-group.ts';
import { reachServer, type ReachOptions } from '../remote/remote-connection.ts';
import { describeExit, Unavailable } from '../unavailable.ts';
import { endContainer, type RunningContainer } from './container-connection.ts';
import type { HttpSpec } from './container-spec.ts';
import { EngineError } from './engine.ts';

interface PublishedOptions extends ReachOptions {
  readonly listenTimeoutMs: number;
  readonly signal: AbortSignal;
}

const POLL_MS = 100;
const LONGEST_REQUEST_MS = 2000;

/** A server in a container that is spoken to over HTTP, at a port of this machine alone. */
export class PublishedConnection implements Connection {
  readonly peer: Peer;
  readonly lost: Promise<string>;
  readonly #container: RunningContainer;
  readonly #remote: Connection;
  readonly #serverKey: string;
  #stopping: Promise<void> | undefined;

  /** Waits until the server answers at its port, whatever it says. */
  static async open(
    container: RunningContainer,
    http: HttpSpec,
    options: PublishedOptions,
  ): Promise<PublishedConnection> {
    logStdout(container, options);
    try {
      const url = await answering(container, http, options);
      options.log.debug?.(`answers at ${shownAddress(new URL(url))}`);
      const { sseConfig: _sse, url: _url, ...config } = options.config;
      const reached = http.isSse ? { ...config, sseConfig: { url } } : { ...config, url };
      return new PublishedConnection(container, await reachServer({ ...options, config: reached }), options);
    } catch (error) {
      await endContainer(container);
      throw error;
    }
  }

  private constructor(container: RunningContainer, remote: Connection, { serverKey }: ConnectionOptions) {
    this.#container = container;
    this.#remote = remote;
    this.#serverKey = serverKey;
    this.peer = remote.peer;
    this.lost = container.process.exited.then(describeExit);
    void this.lost.then((what) => this.fail(what));
  }

  readonly screen = (tools: Listing): Listing => this.#remote.screen?.(tools) ?? tools;

  get heard(): number {
    return this.#remote.heard;
  }

  get keepsSession(): boolean {
    return this.#remote.keepsSession;
  }

  fail(what: string): void {
    this.#remote.fail(what);
  }

  hold(hold: boolean): void {
    this.#remote.hold(hold);
  }

  raceExit<T>(promised: Promise<T>): Promise<T> {
    const ended = this.lost.then((what): never => {
      throw new Unavailable(this.#serverKey, what);
    });
    return Promise.race([promised, ended]);
  }

  outputTail(): string[] {
    return this.#container.process.stderrTail().map((line) => `  stderr | ${line}`);
  }

  stop(timing?: StopTiming): Promise<void> {
    this.#stopping ??= this.#stop(timing);
    return this.#stopping;
  }

  async #stop(timing: StopTiming | undefined): Promise<void> {
    await Promise.all([this.#remote.stop(), endContainer(this.#container, timing)]);
  }
}

/** Logs stdout, which is free for texts where HTTP carries the messages. */
function logStdout({ process }: RunningContainer, { log }: ConnectionOptions): void {
  void readLines(process.stdout, new OutputTail((line) => log.info(line)));
}

async function answering(
  container: RunningContainer,
  http: HttpSpec,
  options: PublishedOptions,
): Promise<string> {
  const { listenTimeoutMs, signal } = options;
  const until = now() + listenTimeoutMs;
  const ended = container.process.exited.then((exit): never => {
    throw new EngineError(startError(describeExit(exit), container));
  });
  const isTime = (): boolean => now() < until && !signal.aborted;
  const answered = (async () => {
    const port = await publishedPort(container, http, isTime);
    const url = port === undefined ? undefined : `http://127.0.0.1:${port}${http.path}`;
    while (url !== undefined && isTime()) {
      if (await answers(url)) return url;
      await delay(POLL_MS);
    }
    signal.throwIfAborted();
    const what = `it did not answer at port ${http.port} within ${listenTimeoutMs / 1000} s`;
    throw new EngineError(`${what}; check "port", or set "startupTimeout" (in milliseconds) in its entry`);
  })();
  // The later of the two has no listener.
  answered.catch(() => {});
  ended.catch(() => {});
  return Promise.race([answered, ended]);
}

function startError(how: string, { process }: RunningContainer): string {
  return [`it ${how}`, ...process.stderrTail().map((line) => `  stderr | ${line}`)].join('\n');
}

/** Returns the host port of the container's port, which is known once it runs. */
async function publishedPort(
  { id, engine }: RunningContainer,
  { port }: HttpSpec,
  isTime: () => boolean,
): Promise<number | undefined> {
  while (isTime()) {
    const printed = await engine.ask(['port', id, `${port}/tcp`]).catch(() => '');
    const found = Number(/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
    if (Number.isInteger(found)) return found;
    await delay(POLL_MS);
  }
  return undefined;
}

/** Returns true for any answer. A published port accepts connections before its server listens, but does not answer. */
function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = request(url, { method: 'HEAD', agent: false, timeout: LONGEST_REQUEST_MS });
    asking.on('response', (response) => {
      response.resume();
      asking.destroy();
      resolve(true);
    });
    asking.on('timeout', () => asking.destroy());
    asking.on('error', () => resolve(false)).on('close', () => resolve(false));
    asking.end();
  });
}
