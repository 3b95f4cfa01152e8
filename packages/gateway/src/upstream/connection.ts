import type { ServerConfig } from '../config/config.generated.ts';
import type { Log } from '../log.ts';
import type { Account } from '../wire/account.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import type { Listing } from './catalogue/catalogue.ts';
import type { StopTiming } from './process/process-group.ts';
import type { ServerOptions } from './server-options.ts';

/** Something that runs and can be ended. */
export interface Stoppable {
  /** Ends it; resolves when nothing is left of it. The timing of the first call counts. */
  stop(timing?: StopTiming): Promise<void>;
}

/** One conversation with a server, however it is reached. */
export interface Connection extends Stoppable {
  readonly peer: Peer;
  /** Resolves with what became of the server once it can no longer be talked to. */
  readonly lost: Promise<string>;
  /** True until a connection to the server's address was made; absent for servers that run on this machine. */
  readonly isUnreachable?: boolean;
  /** How many messages have come, whatever they said. */
  readonly heard: number;
  /** Nobody gets an answer any more; `what` ends a sentence that begins with the server's name. */
  fail(what: string): void;
  /** Stops and restarts the flow of what the server says. */
  hold(hold: boolean): void;
  /** What is promised, if the server lives until then. */
  raceExit<T>(promised: Promise<T>): Promise<T>;
  /** What the server said besides messages, to be shown where its start has failed. */
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
  /** What the server says of its own accord; `related` is the id of the request that it is about, where that is known. */
  request(message: Message, related?: number): void;
  notification(message: Message, related?: number): void;
  /** What the server sent could not be worked off, through a mistake of ours: it is ended. */
  failed(error: Error): void;
  /** For a while the server was not heard. */
  renewed(): void;
  /** What is known of its tools is wrong; resolves when they have been read again. */
  outdated(): Promise<void>;
}

/** Everything that a transport gets to open a connection. */
export interface OpenOptions
  extends
    ConnectionOptions,
    Pick<
      ServerOptions,
      'guard' | 'slots' | 'environmentOf' | 'isClientFolder' | 'clientInfo' | 'chain' | 'containers'
    > {
  readonly config: ServerConfig;
  /** Milliseconds that a server on HTTP in a container may take to listen. */
  readonly listenTimeoutMs: number;
  /** Returns true once the server is no longer wanted. */
  isStopped(): boolean;
  /** Gets a container as soon as it may have to be stopped. */
  arriving(container: Stoppable): void;
}
