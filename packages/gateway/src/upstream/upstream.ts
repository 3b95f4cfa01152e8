import type { ServerConfig } from '../config/config.generated.ts';
import type { Era } from '../protocol/eras.ts';
import type { Peer } from '../wire/peer.ts';
import type { Catalogue, Kind, ToolSchema } from './catalogue/catalogue.ts';
import type { Sharing } from './pool/instances.ts';

/** A server behind the gateway, as programs see it. */
export interface ServerClient {
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  listTools(): Promise<{ tools: ToolSchema[] }>;
}

/** A server behind the gateway, as the rest of the gateway sees it: somewhere to send requests, and what it offers. */
export interface Upstream extends ServerClient {
  readonly serverKey: string;
  /** True for a placeholder of a lazy server, or of one that is still starting: a request waits for its start. */
  readonly isPlaceholder?: boolean;
  /** True for a server at an address: a second session with it starts no process. */
  readonly isRemote?: boolean;
  /** True for a server that has refused the legacy era, or whose entry fixes the modern one. */
  readonly isModernOnly?: boolean;
  /** True until the first client uses a local server that may speak both eras: its era is decided then. */
  readonly isEraOpen?: boolean;
  readonly peer: Peer;
  readonly sharing: Sharing;
  /** True where the server runs in the folder of its client. */
  readonly cwdFromRoots: boolean;
  readonly era: Era;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Text of the server for the model, from its handshake. */
  readonly instructions: string | undefined;
  readonly catalogue: Catalogue;
  /** Reads a list that the server has announced a change of; undefined where it is up to date. */
  readChanged?(kind: Kind): Promise<void> | undefined;
  /** Stops and restarts the flow of what the server says. */
  hold(hold: boolean): void;
  /** Asks to be told when a resource changes, unless a client does so itself; as often unwatched as watched. */
  watch(uri: string, isAsked?: boolean): void;
  /** Ends one `watch`; returns false where another client still watches the resource. */
  unwatch(uri: string, isAsked?: boolean): boolean;
  /** Returns true while a client watches the resource. */
  watches(uri: string): boolean;
}

/** The states of one start: initializing → running → failed or stopped, or from initializing straight to either. */
export const ServerStatus = {
  INITIALIZING: 'initializing',
  RUNNING: 'running',
  FAILED: 'failed',
  STOPPED: 'stopped',
} as const;
export type ServerStatus = (typeof ServerStatus)[keyof typeof ServerStatus];

/** One start of a configured server. */
export interface ChildServerClient {
  readonly serverKey: string;
  readonly client: ServerClient;
  readonly config: ServerConfig;
  readonly status: ServerStatus;
  readonly error?: Error;
}
