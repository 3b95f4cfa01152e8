import type { Readable, Writable } from 'node:stream';
import { Texts } from '../errors.ts';
import type { FrontServices } from '../gateway/front-services.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Lifecycle } from '../gateway/lifecycle.ts';
import type { Log } from '../log.ts';
import type { Implementation } from '../protocol/eras.ts';
import { Method } from '../protocol/methods.ts';
import { now } from '../time/clock.ts';
import type { Chain } from '../upstream/gateway-chain.ts';
import { openLink } from '../wire/link.ts';
import type { Message } from '../wire/message.ts';
import { Session } from './session.ts';

export interface StdioOptions {
  readonly input: Readable & { isTTY?: boolean };
  readonly output: Writable;
  readonly serverInfo: Implementation;
  /** A group of the config, which is all that the client sees. */
  readonly group?: string | undefined;
  /** Ends the service as the end of the input does: calls in flight are answered first. */
  readonly stopped?: Promise<void>;
}

/** Delay of the servers' start without a message of the client, and after messages that need no server. */
const START_AFTER_MS = 200;
/** Answered without any server, where all are remembered. Spawning many processes would hold up the list that follows. */
const NEEDS_NO_SERVER: ReadonlySet<string> = new Set([Method.INITIALIZE, Method.INITIALIZED, Method.PING]);
/** A host that probes first may start the gateway a second time: a probe alone starts nothing for this long. */
const START_AFTER_PROBE_MS = 1000;
/** Without a word from the client for this long, servers are told of a client that can do nothing. */
const DECLARE_AFTER_MS = 1000;
/** Time for requests that were read before the end of input, also where they wait for a server that is starting. */
const DRAIN_MS = 2000;
/** After the end of input, servers that do not end by themselves are killed. Nothing is left a second later. */
const KILL_AFTER_MS = 4000;

/**
 * Serves one client on a pair of streams until it has sent its last message; rejects where the start fails, or where there is
 * no such group.
 */
export async function serveStdio(gateway: Gateway, options: StdioOptions): Promise<void> {
  const { input, output } = options;
  const { fronts } = gateway;
  const { accounts, chain, lifecycle, log, maxMessageSize } = fronts;
  const view = fronts.view(options.group);
  const starter = new ServerStarter(fronts);
  let killAt: number | undefined;
  await lifecycle.prepare();
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      killAt = now() + KILL_AFTER_MS;
      if (session.inFlight > 0) starter.start();
      lifecycle.declareCapabilities('{}');
      resolve(drainRequests(session, log));
    };
    const account = accounts.open((reason) => {
      log.warn(Texts.clientDisconnected(reason));
      resolve();
    });
    const session: Session = new Session(
      fronts,
      (handlers) => openLink({ input, output, maxMessageSize, account, pausesInput: true }, handlers),
      {
        ...options,
        view,
        isOnlyClient: true,
        onMessage: (message) => starter.received(message),
        onEnded: end,
      },
    );
    void options.stopped?.then(end);
    // The client stopped reading, so it is gone, though its end of our input may still be open.
    output.once('error', (error) => {
      log.warn(`Cannot write to the client any more (${error.message}); stopping`);
      resolve();
    });
  });
  if (input.isTTY === true) lifecycle.declareCapabilities('{}');
  try {
    await Promise.race([ended, starter.failed]);
    if (chain.refusal !== undefined) throw chain.refusal;
  } finally {
    starter.stop();
    await lifecycle.close(killAt && Math.max(0, killAt - now()));
  }
}

/** Waits until the requests that were read have been answered, or have had their time. */
async function drainRequests(session: Session, log: Log): Promise<void> {
  const deadline = now() + DRAIN_MS;
  while (session.inFlight > 0 && now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  // The others get an error when their server is stopped.
  if (session.inFlight > 0) log.warn(unfinished(session.inFlight));
  session.close();
}

/** Decides when the servers are started. */
export class ServerStarter {
  readonly failed: Promise<never>;
  readonly #chain: Chain;
  readonly #lifecycle: Lifecycle;
  readonly #declareTimer: NodeJS.Timeout;
  #startTimer: NodeJS.Timeout;
  #fail: (error: Error) => void = () => {};
  #wasProbed = false;
  #hasStarted = false;

  constructor({ chain, lifecycle }: Pick<FrontServices, 'chain' | 'lifecycle'>) {
    this.#chain = chain;
    this.#lifecycle = lifecycle;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Told at once, while `start` rejects only when all servers have been stopped.
    lifecycle.ready.catch((error: unknown) => this.#fail(error as Error));
    this.#startTimer = setTimeout(() => this.start(), START_AFTER_MS);
    this.#declareTimer = setTimeout(() => lifecycle.declareCapabilities('{}'), DECLARE_AFTER_MS);
  }

  received({ method }: Message): void {
    if (this.#hasStarted) return;
    const isFirstProbe = !this.#wasProbed && method === Method.DISCOVER;
    if (isFirstProbe) {
      this.#wasProbed = true;
      this.#startAfter(START_AFTER_PROBE_MS);
    } else if (!this.#lifecycle.isReady) this.start();
    else if (method === Method.INITIALIZE) this.#startAfter(START_AFTER_MS);
    // The answer is written first.
    else if (!NEEDS_NO_SERVER.has(method)) this.#startAfter(0);
  }

  #startAfter(ms: number): void {
    clearTimeout(this.#startTimer);
    this.#startTimer = setTimeout(() => this.start(), ms);
  }

  start(): void {
    this.#hasStarted = true;
    clearTimeout(this.#startTimer);
    // A gateway that refuses lives on to say why.
    if (this.#chain.refusal !== undefined) return;
    this.#lifecycle.start().catch((error: unknown) => this.#fail(error as Error));
  }

  stop(): void {
    clearTimeout(this.#startTimer);
    clearTimeout(this.#declareTimer);
  }
}

function unfinished(count: number): string {
  return `The client closed its end; ${count === 1 ? 'one request was' : `${count} requests were`} not finished`;
}
