import type { McpConfig } from '../config/config.generated.ts';
import { describeChanges, isNoChange, type ConfigChanges } from '../config/diff.ts';
import { checkConfig } from '../config/prepare.ts';
import { Texts } from '../errors.ts';
import { DEFAULT_SEPARATOR } from '../registry/names.ts';
import { Deferred } from '../time/deferred.ts';
import { within } from '../time/timeouts.ts';
import { ALL_KINDS } from '../upstream/catalogue/catalogue.ts';
import type { AppliedConfig } from '../upstream/fleet/fleet.ts';
import type { GatewayOptions } from './options.ts';
import type { Parts } from './wiring.ts';

/** Holds list_changed notifications back after a reload, so that clients get one for all changes. */
const ONE_NOTICE_MS = 2000;

/** Starts, reloads and closes a gateway. */
export class Lifecycle {
  /** True once the first list can be answered. */
  isReady = false;
  readonly #parts: Parts;
  readonly #ready = new Deferred<void>();
  readonly #allAttempted = new Deferred<void>();
  #starting: Promise<void> | undefined;
  #reloading: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    // Prevents an unhandled rejection where no caller waits for the start.
    this.#ready.promise.catch(() => {});
  }

  /** Resolves when the first list can be answered; rejects where the start has failed. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** True once every server has either started or failed. */
  get isAllAttempted(): boolean {
    return this.isReady && this.#allAttempted.isResolved;
  }

  /** Resolves when every server has either started or failed; rejects where the start has failed. */
  get allAttempted(): Promise<void> {
    return this.ready.then(() => this.#allAttempted.promise);
  }

  /** Sets the client's capabilities, as JSON. Only the first call counts, because each server gets one handshake. */
  declareCapabilities(capabilities: string): void {
    this.#parts.capabilities.resolve(capabilities);
    this.recall(capabilities);
  }

  /** Finds out which servers are disabled. After that, `recall` can use the cached catalogues of the others. */
  prepare(): Promise<void> {
    return this.#parts.fleet.prepare();
  }

  /** Offers clients with these capabilities the cached catalogues until the servers run. */
  recall(capabilities: string): void {
    if (this.isReady || this.#closing !== undefined) return;
    const { fleet, publication, options } = this.#parts;
    const isAllKnown = fleet.recall(capabilities);
    if (isAllKnown && options.keepGoing === true) this.#publishFirst();
    else publication.preview();
  }

  /** Starts every server; rejects with the `ChildServerError` of the first that fails, all others stopped. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Resolves once a start that is under way has decided which servers there are; rejects where the gateway ends. */
  async afterStart(): Promise<void> {
    await this.#starting?.catch(() => {});
    if (this.#closing !== undefined) throw new Error(Texts.shuttingDown());
  }

  /** Applies another config; resolves when all that is new runs, or has failed to start. */
  async reload(config: McpConfig, unexpanded: GatewayOptions['unexpanded'] = {}): Promise<ConfigChanges> {
    const checked = checkConfig(config, this.#parts.options.configPath);
    const applied = this.#reloading.then(() => this.#reload(checked, unexpanded));
    this.#reloading = applied.catch(() => {});
    const { changes, settled } = await applied;
    await settled;
    return changes;
  }

  /** Ends every server; kills what has not ended after `killAfterMs`. */
  close(killAfterMs?: number): Promise<void> {
    this.#closing ??= this.#close(killAfterMs);
    return this.#closing;
  }

  async #start(): Promise<void> {
    const { clients, fleet, options, publication } = this.#parts;
    const { chain, keepGoing = false, log, noPrefix = false, separator = DEFAULT_SEPARATOR } = options;
    log.debug?.(noPrefix ? 'names have no prefix' : `the separator is ${JSON.stringify(separator)}`);
    this.#warnOfNoServers();
    try {
      if (chain.refusal !== undefined) throw chain.refusal;
      await fleet.prepare();
      // A program without a client cannot answer a server's questions, so it declares no capabilities.
      if (clients.clients.size === 0) this.declareCapabilities('{}');
      // Clients get one notification for all differences from the cached catalogues.
      if (this.isReady) publication.hold(within(ONE_NOTICE_MS, this.#allAttempted.promise));
      await fleet.start(() => this.#allAttempted.resolve());
      if (this.#closing !== undefined) throw new Error(Texts.shuttingDown());
      const crashed = keepGoing ? undefined : fleet.servers.firstError();
      if (crashed !== undefined) throw crashed;
      this.#publishFirst();
    } catch (error) {
      this.#ready.reject(error as Error);
      await this.close();
      throw error;
    }
  }

  /** Publishes the first registry. Throws where names collide that must not. */
  #publishFirst(): void {
    if (this.isReady) return;
    this.#parts.publication.open();
    this.isReady = true;
    this.#ready.resolve();
  }

  /** Applies a checked config. Nothing waits after `afterStart`, so that a call sees either the old config or the new one. */
  async #reload(
    config: McpConfig,
    unexpanded: NonNullable<GatewayOptions['unexpanded']>,
  ): Promise<AppliedConfig> {
    await this.afterStart();
    const parts = this.#parts;
    const { callLimits, events, fleet, options, publication, restartWaiters, tasks } = parts;
    // Limits hold from the next call or byte on; calls in flight keep their time.
    parts.config = config;
    callLimits.takeConfig(config);
    options.accounts.takeLimits(config.limits);
    parts.publish();
    // Groups change the views at once; filters and overrides of tools count from the rebuild below.
    const groups = parts.setGroups(config);
    const isFilterChanged = publication.builder.filter(config.mcpServers);
    // Takes changed and removed servers out of the registry; afterwards their calls drain, and new servers start.
    const applied = fleet.apply(config, unexpanded);
    // Names of removed servers are free, ids of their tasks stay valid, and calls that wait for their restart fail.
    publication.builder.setServers(Object.keys(config.mcpServers));
    tasks.setServers(fleet.servers.byKey.keys());
    restartWaiters.setServers(fleet.servers.byKey);
    publication.hold(within(ONE_NOTICE_MS, applied.settled));
    options.log.info(describeChanges(applied.changes, groups));
    events.publish({ type: 'config-reloaded', at: Date.now(), changes: applied.changes });
    this.#warnOfNoServers();
    // Names that have become free may be wanted by others.
    if (applied.isReordered) publication.rebuild(ALL_KINDS);
    else if (!isNoChange(applied.changes)) publication.rebuild(isFilterChanged ? ['tools'] : []);
    return applied;
  }

  async #close(killAfterMs: number | undefined): Promise<void> {
    const { fleet, options, suspendedCalls, publication, restartWaiters } = this.#parts;
    publication.close();
    restartWaiters.close();
    suspendedCalls.close();
    this.declareCapabilities('{}');
    // Requests that wait for a start get this answer; after a start it has no effect.
    this.#ready.reject(new Error(Texts.shuttingDown()));
    await fleet.stop(killAfterMs);
    await options.history.close();
  }

  #warnOfNoServers(): void {
    const { fleet, options } = this.#parts;
    if (fleet.servers.byKey.size === 0) options.log.warn(Texts.noServers());
  }
}
