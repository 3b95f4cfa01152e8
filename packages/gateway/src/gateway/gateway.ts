import type { History } from '../call/history/history.ts';
import type { InvocationSource } from '../call/history/invocation.ts';
import type { McpConfig } from '../config/config.generated.ts';
import type { ConfigChanges } from '../config/diff.ts';
import type { LoadedConfig } from '../config/load.ts';
import { checkConfig } from '../config/prepare.ts';
import type { Log } from '../log.ts';
import type { ToolRegistry } from '../registry/tool-registry.ts';
import type { ToolSchema } from '../upstream/catalogue/catalogue.ts';
import { Chain, CHAIN_VARIABLE, gatewayId } from '../upstream/gateway-chain.ts';
import type { UpstreamServer } from '../upstream/server.ts';
import type { LoggedLine } from '../upstream/supervision/server-logs.ts';
import type { ChildServerClient } from '../upstream/upstream.ts';
import type { Front } from './clients.ts';
import { GatewayControl, type ServerReport } from './control.ts';
import type { GatewayEvent, GatewayListener } from './events.ts';
import { FrontServices } from './front-services.ts';
import { Lifecycle } from './lifecycle.ts';
import { completeOptions, type GatewayOptions } from './options.ts';
import { ProgramCalls, type GroupTools } from './program-calls.ts';
import { Parts } from './wiring.ts';

export interface AggregatorServer {
  readonly server: Front;
  readonly children: Map<string, ChildServerClient>;
  readonly registry: ToolRegistry;
  readonly config: McpConfig;
}

/** Checks the config as `loadConfig` does; throws a `ConfigError` that names every mistake. */
export function createGateway(config: McpConfig, options: GatewayOptions = {}): Gateway {
  return new Gateway(checkConfig(config, options.configPath), options);
}

/** Creates the gateway of a config file that `loadConfig` has read, and checked. */
export function gatewayFor(
  { config, path: configPath, unexpanded }: Pick<LoadedConfig, 'config' | 'path' | 'unexpanded'>,
  options: Omit<GatewayOptions, 'configPath' | 'unexpanded'> = {},
): Gateway {
  return new Gateway(config, { ...options, configPath, unexpanded });
}

/** The chain of a gateway that serves the config of this file, where it came from one. */
export function chainFor({ configPath, env }: Pick<GatewayOptions, 'configPath' | 'env'>): Chain {
  return new Chain(() => gatewayId(configPath), env?.[CHAIN_VARIABLE]);
}

/** Many servers as one, for programs and commands. */
export class Gateway implements AggregatorServer {
  readonly server: Front;
  readonly log: Log;
  /** Every call of a tool. */
  readonly history: History;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Services for `serveStdio` and `serveHttp`; programs do not need them. */
  readonly fronts: FrontServices;
  readonly #parts: Parts;
  readonly #lifecycle: Lifecycle;
  readonly #programs: ProgramCalls;
  readonly #control: GatewayControl;

  constructor(config: McpConfig, given: GatewayOptions, chain: Chain = chainFor(given)) {
    const options = completeOptions(given, { limits: config.limits, chain, config: () => this.config });
    this.#parts = new Parts(config, options);
    this.#lifecycle = new Lifecycle(this.#parts);
    this.#programs = new ProgramCalls(this.#parts, this.#lifecycle);
    this.#control = new GatewayControl(this.#parts, this.#lifecycle);
    this.fronts = new FrontServices(this.#parts, this.#lifecycle);
    this.server = this.#parts.clients;
    // Throws where the config has no such group.
    this.fronts.view(given.group);
    this.log = options.log;
    this.history = options.history;
    this.commandName = options.commandName;
  }

  /** The config that is in force. */
  get config(): McpConfig {
    return this.#parts.config;
  }

  /** A copy, like `registry`: a change of it changes nothing here. */
  get children(): Map<string, UpstreamServer> {
    return new Map(this.#parts.fleet.servers.byKey);
  }

  /** True for a server of the config that never runs here, because the group of this gateway has nothing of it. */
  isOutside(serverKey: string): boolean {
    return this.#parts.fleet.isOutside(serverKey);
  }

  get registry(): ToolRegistry {
    return new Map(this.#parts.publication.whole.registry.tools);
  }

  get isReady(): boolean {
    return this.#lifecycle.isReady;
  }

  /** Resolves when the first list can be answered; rejects where the start has failed. */
  get ready(): Promise<void> {
    return this.#lifecycle.ready;
  }

  /** True once every server has either started or failed. */
  get isAllAttempted(): boolean {
    return this.#lifecycle.isAllAttempted;
  }

  /** Resolves when every server has either started or failed; rejects where the start has failed. */
  get allAttempted(): Promise<void> {
    return this.#lifecycle.allAttempted;
  }

  /** Starts every server; rejects with the `ChildServerError` of the first that fails, all others stopped. */
  start(): Promise<void> {
    return this.#lifecycle.start();
  }

  /**
   * Ends every server and whatever it started. Servers that do not end by themselves get SIGTERM after half of this time
   * (in milliseconds, 4000 unless given) and SIGKILL after all of it.
   */
  close(killAfterMs?: number): Promise<void> {
    return this.#lifecycle.close(killAfterMs);
  }

  /**
   * Goes over to another config, of which `unexpanded` holds the entries before variables were replaced. Starts new and
   * changed servers, drains removed ones (within 5 s), and leaves the rest alone. A server that does not start is tried
   * again like one that was lost. Resolves when all that is new runs, or has turned out not to.
   */
  reload(config: McpConfig, unexpanded?: GatewayOptions['unexpanded']): Promise<ConfigChanges> {
    return this.#lifecycle.reload(config, unexpanded);
  }

  /** Calls a tool by its public name. The first use from inside a program starts the servers. */
  callTool(tool: string, args?: Record<string, unknown>, source?: InvocationSource): Promise<unknown> {
    return this.#programs.callTool(undefined, { tool, args, source });
  }

  listTools(): Promise<ToolSchema[]> {
    return this.#programs.listTools(undefined);
  }

  /** Lets a program see and call what one group of the config has, and nothing else. Throws where there is no such group. */
  group(name: string): GroupTools {
    return this.#programs.group(name);
  }

  /** Calls `listener` with every event of these types, or of all, until what is returned is called. */
  subscribe(listener: GatewayListener, types?: readonly GatewayEvent['type'][]): () => void {
    return this.#parts.events.subscribe(listener, types);
  }

  /** Returns the state of each server that the config does not switch off. */
  reports(): ServerReport[] {
    return this.#control.reports();
  }

  /** The last lines that a server wrote to stderr, and what was said of it; undefined where there is no such server. */
  logsOf(serverKey: string): readonly LoggedLine[] | undefined {
    return this.#control.logsOf(serverKey);
  }

  /** Lets a server run again and forgets what was held against it; resolves when it runs, or has turned out not to. */
  enable(serverKey: string): Promise<void> {
    return this.#control.enable(serverKey);
  }

  /** Ends a server, until it is enabled; also over restarts of the gateway. */
  disable(serverKey: string): Promise<void> {
    return this.#control.disable(serverKey);
  }

  /** Ends a server and starts it anew. */
  restart(serverKey: string): Promise<void> {
    return this.#control.restart(serverKey);
  }

  /** Refuses calls from now on and cancels those in flight; their clients get an error. */
  stopCalls(): void {
    this.#control.stopCalls();
  }

  /** Lets calls pass again. */
  resumeCalls(): void {
    this.#control.resumeCalls();
  }

  /** True while calls are refused because of `stopCalls`. */
  get isStopped(): boolean {
    return this.#control.isStopped;
  }

  /**
   * Returns true where a call would be made at once: its server runs, and no limit refuses the call or lets it wait.
   * `source` names the session of a program, as in `callTool`; without a server or a session only the rest is asked.
   */
  canExecute(serverKey?: string, source?: InvocationSource): boolean {
    return this.#programs.canExecute(serverKey, source);
  }
}
