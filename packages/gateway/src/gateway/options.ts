import type { Environment } from '../config/child-environment.ts';
import type { Log } from '../log.ts';
import type { Stores } from '../state/stores.ts';
import type { SupervisionRules } from '../upstream/supervision/health.ts';

export interface GatewayOptions {
  /** The product's version, told to the servers. */
  readonly version?: string;
  readonly separator?: string;
  /** Lists tools and prompts under their bare names. */
  readonly noPrefix?: boolean;
  /** Starts with the servers that do start, instead of failing with the first that does not. */
  readonly keepGoing?: boolean;
  /** Lists one tool, `weir__status`, while a configured server is away: it says which, why and what to do. */
  readonly statusTool?: boolean;
  /**
   * UTF-16 units that the merged instructions of all servers may have; 2,000 unless set, 0 passes none on. Texts that
   * were cut are whole in the resources `weir://instructions/<server>`.
   */
  readonly instructionsBudget?: number;
  /** The command that hints tell users to run, as in "weir enable files"; `weir` unless set. */
  readonly commandName?: string;
  /** Milliseconds that a server may take to start. */
  readonly startupTimeout?: number;
  readonly maxMessageSize?: number;
  /** The folder or the stores that keep state from start to start; without it, state ends with the process. */
  readonly state?: string | Stores;
  /** The file that the config came from: what is known of its servers is kept under its path, and not kept without. */
  readonly configPath?: string;
  /** A group of the config: only the servers of which it has anything are started. Without it, all are. */
  readonly group?: string;
  /** The entries of the servers before variables were replaced: a changed one is tried anew. */
  readonly unexpanded?: Readonly<Record<string, unknown>>;
  /** `arguments` keeps those of every call in the history, too. */
  readonly history?: 'arguments';
  /**
   * false keeps no results for `executionTracker`. The command sets it, because it never shows results and large ones would
   * stay in memory. Otherwise the last ones are kept.
   */
  readonly keepResults?: boolean;
  /** Starts servers at their first call, and answers lists from what is remembered of them. */
  readonly lazy?: boolean;
  /** Lets the first list wait for the servers. Otherwise lists are answered from what is remembered, while servers start. */
  readonly fresh?: boolean;
  /** Milliseconds without use after which a lazy server is stopped; ten minutes unless set. */
  readonly idleAfter?: number;
  /** Other times than the usual ones. */
  readonly supervision?: Partial<SupervisionRules>;
  /** The environment that servers inherit their short safe list from. */
  readonly env?: Environment;
  readonly log?: Log;
}
