import type { ServerConfig } from '../config/config.generated.ts';
import type { Log } from '../log.ts';
import type { Account } from '../wire/account.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import type { Listing } from './catalogue/catalogue.ts';
import type { StopTiming } from './process/process-group.ts';
import type { ServerContext } from './server-context.ts';
import type { ServerOptions } from './server-options.ts';

/** Something that runs and can be ended. */
export interface Stoppable {
  /** Ends it; resolves when nothing is left of it. The timing of the first call counts. */
  stop(timing?: StopTiming): Promise<void>;
}

/** Connection to a server, whatever carries it. */
export interface Connection extends Stoppable {
  readonly peer: Peer;
  /** Resolves with the reason once the server is gone for good. */
  readonly lost: Promise<string>;
  /** True until a connection to the server's address was made; absent for servers that run on this machine. */
  readonly isUnreachable?: boolean;
  /** Number of messages that have come. */
  readonly heard: number;
  /** Fails every call in flight and every later one; `what` ends a sentence that begins with the server's name. */
  fail(what: string): void;
  /** Stops and restarts the flow of what the server says. */
  hold(hold: boolean): void;
  /** Waits for a promise; rejects where the server exits before. */
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
