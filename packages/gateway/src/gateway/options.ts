import { History, uuidPrefix } from '../call/history/history.ts';
import type { Environment } from '../config/child-environment.ts';
import type { McpConfig } from '../config/config.generated.ts';
import { redactor } from '../config/redact.ts';
import { printable, silentLog, type Log } from '../log.ts';
import type { Implementation } from '../protocol/eras.ts';
import { stateProblem } from '../state/state-problem.ts';
import { createMemoryStores, openStores, type Stores } from '../state/stores.ts';
import type { Chain } from '../upstream/gateway-chain.ts';
import type { SupervisionRules } from '../upstream/supervision/health.ts';
import { Accounts } from '../wire/account.ts';

const DEFAULT_COMMAND = 'weir';
const CLIENT_NAME = 'mcp-aggregator-client';
const DEFAULT_MAX_MESSAGE_SIZE = 64 * 1024 * 1024;

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

/** Options with their defaults, and with what is opened once for the whole gateway. */
export interface CompleteOptions extends Omit<GatewayOptions, 'history' | 'state'> {
  readonly log: Log;
  readonly stores: Stores;
  readonly history: History;
  readonly accounts: Accounts;
  readonly chain: Chain;
  readonly clientInfo: Implementation;
  readonly commandName: string;
  readonly maxMessageSize: number;
  readonly env: NonNullable<GatewayOptions['env']>;
}

interface Surroundings {
  readonly limits: McpConfig['limits'];
  readonly chain: Chain;
  /** Returns the config in force, whose secrets are left out of the history. */
  readonly config: () => McpConfig;
}

export function completeOptions(
  given: GatewayOptions,
  { limits, chain, config }: Surroundings,
): CompleteOptions {
  const {
    maxMessageSize = DEFAULT_MAX_MESSAGE_SIZE,
    commandName = DEFAULT_COMMAND,
    version = '0.0.0',
    env = {},
  } = given;
  const log = printable(given.log ?? silentLog);
  const stores = storesFor(given, log);
  return {
    ...given,
    log,
    stores,
    history: createHistory(given, { stores, log, config }),
    accounts: new Accounts(maxMessageSize, limits),
    chain,
    clientInfo: { name: CLIENT_NAME, version },
    commandName,
    maxMessageSize,
    env,
  };
}

/** Opens the state folder, unless other users may have written to it: such a gateway remembers nothing. */
function storesFor({ state }: GatewayOptions, log: Log): Stores {
  if (typeof state === 'object') return state;
  const problem = state === undefined ? undefined : stateProblem(state);
  if (problem !== undefined) log.warn(problem);
  return state === undefined || problem !== undefined ? createMemoryStores() : openStores(state);
}

/** Creates the history of this process, which is on disk, too, where there is a state folder. */
function createHistory(
  { history, keepResults }: GatewayOptions,
  { stores, log, config }: { stores: Stores; log: Log; config: () => McpConfig },
): History {
  return new History({
    now: Date.now,
    prefix: uuidPrefix(Math.random),
    redact: redactor(config),
    keepsArguments: history === 'arguments',
    keepsResults: keepResults,
    sink: stores.openHistory((reason) =>
      log.warn(`Weir keeps the history of calls in memory only: ${reason}. Calls are not affected.`),
    ),
  });
}
