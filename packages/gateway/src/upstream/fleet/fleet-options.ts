import type { Era } from '../../protocol/eras.ts';
import type { Stores } from '../../state/stores.ts';
import type { Kind } from '../catalogue/catalogue.ts';
import type { ServerContextOptions } from '../server-context.ts';
import type { ServerEvents } from '../server-options.ts';
import type { UpstreamServer } from '../server.ts';
import type { SupervisionRules } from '../supervision/health.ts';
import type { ServerEvent } from '../supervision/supervisor.ts';
import type { Upstream } from '../upstream.ts';
import type { ServerEntries } from './desired-servers.ts';

export interface FleetOptions extends ServerContextOptions {
  readonly stores: Stores;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Resolves with the client's capabilities, as JSON. */
  readonly capabilities: Promise<string>;
  /** Era of a client that stays the only one; undefined where there may be more, or before it has spoken. */
  readonly onlyEra: () => Era | undefined;
  readonly on: FleetEvents;
  /** Path of the config file, under which the state of its servers is kept; without one, no state is kept. */
  readonly configPath?: string;
  /** The entries of the servers before variables were replaced. */
  readonly unexpanded?: ServerEntries;
  /** The group of which servers run; all unless set. */
  readonly group?: string;
  readonly supervision?: Partial<SupervisionRules>;
  /** Starts servers at their first call, unless their entry says otherwise. */
  readonly lazy?: boolean;
  /** Milliseconds without use after which a lazy server is stopped. */
  readonly idleAfter?: number;
  /** Goes on with the servers that start, instead of failing with the first that does not. */
  readonly keepGoing?: boolean;
  /** Lists wait for the servers, whatever is remembered of them. */
  readonly fresh?: boolean;
}

interface FleetEvents extends Pick<ServerEvents, 'request' | 'notification' | 'isFollowed' | 'prepare'> {
  /** Called when lists of these kinds have changed. */
  changed(kinds: readonly Kind[]): void;
  /** Called when a server is ready for calls; `before` is the placeholder that it replaces. */
  ready(server: UpstreamServer, before?: Upstream): void;
  /** Called when a running server gets no more calls. */
  gone(server: UpstreamServer): void;
  supervised(event: ServerEvent): void;
}
