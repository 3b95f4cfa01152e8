import type { ServerConfig } from '../config/config.generated.ts';
import { quoted, RpcError, RpcErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { Method } from '../protocol/methods.ts';
import type { Account } from '../wire/account.ts';
import { errorLine, resultLine } from '../wire/answer.ts';
import { describeInvalidInput } from '../wire/describe-invalid.ts';
import type { InvalidInput, Message } from '../wire/message.ts';
import type { Oversized, PartialHead } from '../wire/oversized.ts';
import type { Peer } from '../wire/peer.ts';
import type { Listing } from './catalogue/catalogue.ts';
import type { StopTiming } from './process/process-group.ts';
import type { ServerContext } from './server-context.ts';
import type { ServerOptions } from './server-options.ts';
import { Unavailable } from './unavailable.ts';

/** Something that runs and can be ended. */
export interface Stoppable {
  /** Ends it; resolves when nothing is left of it. The timing of the first call counts. */
  stop(timing?: StopTiming): Promise<void>;
}

/** Connection to a server, whatever carries it. */
export interface Connection extends Stoppable {
  readonly peer: Peer;
  /** Resolves with the reason once the server is gone for good; never where each request fails for itself, as at an address. */
  readonly lost: Promise<string>;
  /** True until a connection to the server's address was made; absent where the gateway starts the server. */
  readonly isUnreachable?: boolean;
  /** Number of messages that have come. */
  readonly heard: number;
  /** Fails every call in flight and every later one; `what` ends a sentence that begins with the server's name. */
  fail(what: string): void;
  /** Stops and restarts the flow of what the server says. */
  hold(hold: boolean): void;
  /**
   * Waits for a promise; rejects where the server exits before. Runs before the first request, so that a connection whose
   * peer fails while the address is not reached has to wait for that here: `start/start-server` takes a later end without an
   * answer for a server that does not know the era, and starts once more.
   */
  raceExit<T>(promised: Promise<T>): Promise<T>;
  /** Returns the server's last lines that are not messages, for the error of a failed start. */
  outputTail(): string[];
  /** The server keeps a session, in which it can ask and tell. */
  readonly keepsSession: boolean;
  /** Takes out of a list of tools what cannot be called over this connection. */
  readonly screen?: (tools: Listing) => Listing;
}

export interface ConnectionOptions {
  readonly serverKey: string;
  readonly maxMessageSize: number;
  /** Counts what is held because of the server, until the connection ends. */
  readonly account: Account;
  readonly log: Log;
  /** Gets a request of the server; `related` is the id of our request that it belongs to, where that is known. */
  request(message: Message, related?: number): void;
  notification(message: Message, related?: number): void;
  /** Ends the server after an exception of ours in work for it. */
  failed(error: Error): void;
  /** The connection was interrupted, and notifications may have been missed. */
  renewed(): void;
  /** Reads the tools again, because the server has changed them; resolves when they have been read. */
  outdated(): Promise<void>;
}

/** Everything that a transport gets to open a connection. */
export interface OpenOptions
  extends
    ConnectionOptions,
    Pick<ServerContext, 'guard' | 'slots' | 'environmentOf' | 'clientInfo' | 'chain' | 'containers'>,
    Pick<ServerOptions, 'isClientFolder'> {
  readonly config: ServerConfig;
  /** Milliseconds that a server on HTTP in a container may take to listen. */
  readonly listenTimeoutMs: number;
  /** Returns true once the server is no longer wanted. */
  isStopped(): boolean;
  /** Gets a container as soon as it may have to be stopped. */
  arriving(container: Stoppable): void;
}

/** Takes in a message of a server; `related` is the id of our request that it belongs to, where that is known. */
export function receive(message: Message, peer: Peer, options: ConnectionOptions, related?: number): void {
  if (peer.take(message)) return;
  if (message.kind === 'notification') options.notification(message, related);
  else if (message.kind === 'response')
    options.log.debug?.(`answered ${quoted(message.id)}, which no request waits for`);
  else if (message.method === Method.PING) peer.reply(resultLine(message.id, '{}'));
  else options.request(message, related);
}

/** The server that sent an invalid message. */
interface Sender {
  readonly serverKey: string;
  readonly log: Log;
  readonly maxMessageSize: number;
}

interface RefusedMessage {
  readonly peer: Peer;
  readonly serverKey: string;
  readonly why: string;
  /** The message, where its text is damaged. */
  readonly damaged?: Buffer | undefined;
}

/** Refuses what a server sent; `how` says how it came, before what it is. */
export function refuseInvalid(peer: Peer, sender: Sender, line: InvalidInput, how: string = 'sent'): void {
  const why = `${how} ${describeInvalidInput(line)}`;
  // Other lines are the noise of programs that log to stdout.
  if (line.likelyKind !== undefined) sender.log.warn(line.id === undefined ? `${why}; it was dropped` : why);
  const damaged = line.reason === 'not-json' ? line.bytes : undefined;
  refuse(line, { peer, serverKey: sender.serverKey, why, damaged });
}

/** Refuses a message that was too large to be kept. */
export function refuseOversized(peer: Peer, sender: Sender, line: Oversized): void {
  const why = `sent a message of ${line.size} bytes, over the limit of ${sender.maxMessageSize}; raise --max-message-size to allow it`;
  sender.log.warn(why);
  refuse(line, { peer, serverKey: sender.serverKey, why });
}

/** Fails the one call that waits for it; a request of the server's is answered with why. */
function refuse({ id, likelyKind }: PartialHead, { peer, serverKey, why, damaged }: RefusedMessage): void {
  if (id === undefined) return;
  if (likelyKind === 'response') peer.failRequest(id, new Unavailable(serverKey, why), damaged);
  else if (likelyKind === 'request')
    peer.reply(errorLine(id, new RpcError(RpcErrorCode.INVALID_REQUEST, `The server ${why}`)));
}
