import { addresseeOf } from '../call/addressee.ts';
import type { Caller, ClientHandle } from '../call/client-request.ts';
import { LogLevels } from '../call/log-levels.ts';
import { NameWarnings } from '../call/name-warnings.ts';
import { ask } from '../call/questions/ask.ts';
import { QuestionBudget } from '../call/questions/question-budget.ts';
import { SuspendedCalls } from '../call/questions/suspended-calls.ts';
import { RestartWaiters } from '../call/restart-waiters.ts';
import type { CallServices, GatewaySnapshot } from '../call/snapshot.ts';
import { CallLimits } from '../call/stages/limits/call-limits.ts';
import { folderOf } from '../call/stages/roots-folder.ts';
import { Tasks } from '../call/tasks/tasks.ts';
import type { McpConfig } from '../config/config.generated.ts';
import { Texts, quoted } from '../errors.ts';
import { prefixRequest } from '../protocol/asker-name.ts';
import { Group } from '../registry/group.ts';
import { OWN_KEY } from '../registry/names.ts';
import { duration } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import { awaitedTimers, systemTimers } from '../time/schedule.ts';
import type { Kind } from '../upstream/catalogue/catalogue.ts';
import { Fleet } from '../upstream/fleet/fleet.ts';
import type { DedicatedEvents } from '../upstream/pool/dedicated.ts';
import { UpstreamPool } from '../upstream/pool/pool.ts';
import type { UpstreamServer } from '../upstream/server.ts';
import type { ServerEvent } from '../upstream/supervision/supervisor.ts';
import { ServerStatus, type Upstream } from '../upstream/upstream.ts';
import type { Message } from '../wire/message.ts';
import { AwayServers } from './away-servers.ts';
import { BackPressure } from './back-pressure.ts';
import { ConnectedClients } from './clients.ts';
import { GatewayEvents } from './events.ts';
import { DEFAULT_BUDGET, mergeInstructions, validateBudget } from './instructions.ts';
import { LogLevelSync } from './log-level-sync.ts';
import type { CompleteOptions } from './options.ts';
import { OwnServer, STATUS } from './own-server.ts';
import { Publication } from './publication.ts';
import type { View } from './view.ts';

/** Origin of a server's question: the id of its call, and the client of a dedicated server. */
interface QuestionContext {
  readonly related: number | undefined;
  readonly owner?: ClientHandle;
}

/** Creates the parts of a gateway and connects their events. */
export class Parts {
  readonly clients: ConnectedClients;
  readonly events: GatewayEvents;
  readonly publication: Publication;
  readonly fleet: Fleet;
  readonly pool: UpstreamPool<Caller>;
  readonly services: CallServices;
  readonly options: CompleteOptions;
  /** The config that is in force. */
  config: McpConfig;
  /** The client's capabilities, as JSON, once they are known. */
  readonly capabilities: Deferred<string> = new Deferred();
  readonly backPressure: BackPressure = new BackPressure(() =>
    this.fleet.connected().filter(({ status }) => status === ServerStatus.RUNNING),
  );
  readonly logLevelSync: LogLevelSync;
  readonly tasks: Tasks;
  readonly callLimits: CallLimits;
  readonly suspendedCalls: SuspendedCalls = new SuspendedCalls();
  readonly restartWaiters: RestartWaiters = new RestartWaiters(
    (key) => this.fleet.supervisor.statusOf(key),
    awaitedTimers,
  );
  readonly #away: AwayServers;
  readonly #logLevels = new LogLevels();
  readonly #questions = new QuestionBudget();

  constructor(config: McpConfig, options: CompleteOptions) {
    this.config = config;
    this.options = options;
    this.events = new GatewayEvents(options.log, () => this.#openEvents());
    this.clients = new ConnectedClients(options.log, (client) => this.pool.leave(client));
    validateBudget(options.instructionsBudget ?? DEFAULT_BUDGET);
    const heard: DedicatedEvents = {
      request: (child, message, related) => this.#asked(child, message, { related }),
      notification: (child, message, related) => this.#notified(child, message, related),
    };
    this.publication = this.#createPublication(config);
    this.fleet = this.#createFleet(config, heard);
    this.#away = this.#createAway();
    this.pool = new UpstreamPool({
      fleet: this.fleet,
      on: heard,
      folderOf,
      asked: (owner, child, message, related) => this.#asked(child, message, { related, owner }),
      opened: (legacyConnection) => this.#connected(legacyConnection),
      started: (own) => this.backPressure.include(own),
    });
    this.logLevelSync = new LogLevelSync({
      clients: this.clients.clients,
      logLevels: this.#logLevels,
      servers: () => [...this.fleet.servers.running(), ...this.pool.legacyConnections],
    });
    this.tasks = new Tasks(this.fleet.servers.byKey.keys());
    this.callLimits = new CallLimits(config, systemTimers, options.commandName);
    this.services = this.#createServices();
    this.publish();
    this.setGroups(config);
  }

  /** Feeds the event stream with what is costly to tell, while there is a listener. */
  #openEvents(): () => void {
    const { history } = this.options;
    const { logs } = this.fleet;
    logs.onLine = (serverKey, line) => this.events.publish({ type: 'server-log', serverKey, ...line });
    const unfollow = history.follow((call) =>
      this.events.publish({ type: 'call-ended', at: Date.now(), call }),
    );
    return () => {
      logs.onLine = undefined;
      unfollow();
    };
  }

  /** Goes over to the groups of another config; returns the names of those that differ. */
  setGroups({ mcpServers, groups = {} }: McpConfig): string[] {
    const serverKeys = Object.keys(mcpServers);
    const read = Object.entries(groups).map(
      ([name, patterns]) => [name, new Group(name, patterns, serverKeys)] as const,
    );
    const changed = this.publication.setGroups(new Map(read), (view) => this.clients.see(view));
    // New views have to resolve requests before the first registry is published, too.
    if (changed.length > 0) this.publish();
    return changed;
  }

  /** Replaces the snapshots that calls are resolved against. */
  publish(): void {
    for (const view of this.publication.views) view.snapshot = this.#createSnapshot(view);
  }

  #createPublication({ mcpServers }: McpConfig): Publication {
    return new Publication(mcpServers, {
      ...this.options,
      snapshot: () => this.fleet.snapshot(),
      createOwn: ({ hasServer }) => new OwnServer(() => this.#away.describe(hasServer)),
      offerOwn: (view, upstreams) => this.#offerOwn(view, upstreams),
      published: () => this.publish(),
      listsChanged: (view, lists) => {
        this.clients.listsChanged(view, lists);
        this.events.publish({ type: 'lists-changed', at: Date.now(), lists: [...lists] });
      },
    });
  }

  #createAway(): AwayServers {
    const { fleet } = this;
    return new AwayServers({
      keys: () => fleet.servers.byKey.keys(),
      healthOf: (serverKey) => fleet.supervisor.healthOf(serverKey),
      hasLazyUpstream: (serverKey) => fleet.lazyUpstream(serverKey) !== undefined,
      retryHint: (serverKey) => fleet.supervisor.retryHint(serverKey),
      commandName: this.options.commandName,
      now: () => systemTimers.now(),
    });
  }

  /** Decides what the own server of a view offers beside these servers, and what clients are told of how to use them all. */
  #offerOwn(view: View, upstreams: readonly Upstream[]): readonly Kind[] {
    const { hasServer } = view;
    const { statusTool = false, instructionsBudget = DEFAULT_BUDGET } = this.options;
    const { text, cut } = mergeInstructions(upstreams, {
      budget: instructionsBudget,
      isOnlyOne: [...this.fleet.servers.byKey.keys()].filter(hasServer).length === 1,
      notice: statusTool
        ? this.#away.notice(this.publication.builder.books.tools.freeName(OWN_KEY, STATUS), hasServer)
        : undefined,
    });
    view.instructions = text;
    return view.own.offer({ hasStatus: statusTool && this.#away.among(hasServer).length > 0, texts: cut });
  }

  #createFleet(config: McpConfig, heard: DedicatedEvents): Fleet {
    return new Fleet(config, {
      ...this.options,
      capabilities: this.capabilities.promise,
      onlyEra: () => this.clients.onlyEra,
      on: {
        ...heard,
        prepare: (child, kind, listing) => this.publication.builder.prepare(child, kind, listing),
        changed: (kinds) => this.publication.rebuild(kinds),
        ready: (child, before) => this.#ready(child, before),
        gone: (child) => this.#gone(child),
        isFollowed: (server) => this.clients.follow(server),
        supervised: (event) => this.#supervised(event),
      },
    });
  }

  #createServices(): CallServices {
    const { fleet } = this;
    const { history, log } = this.options;
    const { needsAcquire, acquire } = this.pool;
    return {
      history,
      tasks: this.tasks,
      suspendedCalls: this.suspendedCalls,
      restartWaiters: this.restartWaiters,
      logLevels: this.#logLevels,
      nameWarnings: new NameWarnings(log),
      needsAcquire,
      acquire,
      retryHint: (serverKey) => fleet.supervisor.retryHint(serverKey),
      isStarting: (serverKey) => fleet.isStarting(serverKey),
      askerOf: (serverKey) => fleet.servers.askerOf(serverKey),
      trace: log.debug,
    };
  }

  #createSnapshot(view: View): GatewaySnapshot {
    return {
      registry: view.registry,
      group: view.group,
      builder: this.publication.builder,
      servers: new Set([...this.fleet.servers.byKey.keys()].filter(view.hasServer)),
      callLimits: this.callLimits.active,
      services: this.services,
      current: () => view.snapshot,
    };
  }

  /** Applies to a new connection what holds for the others. */
  #connected(server: Upstream): void {
    this.backPressure.include(server);
    this.logLevelSync.include(server);
  }

  #ready(child: UpstreamServer, before: Upstream | undefined): void {
    this.#connected(child);
    this.clients.returned(child);
    this.publication.add(child, before);
    this.restartWaiters.ready(child.serverKey);
  }

  #gone(child: UpstreamServer): void {
    this.pool.forget(child);
    // Nothing is missed where something stands in for it.
    if (this.fleet.lazyUpstream(child.serverKey) !== undefined) this.publication.rebuild([]);
    else this.publication.remove(child);
  }

  #supervised(event: ServerEvent): void {
    const { type } = event;
    this.restartWaiters.serverChanged(event);
    if (this.options.statusTool === true) this.publication.refresh();
    // Without the reason: the stderr tail of a server is for the user of the gateway, not for clients.
    if (type === 'server-auto-disabled')
      this.clients.alert(event.serverKey, autoDisabledAlert(event, this.options.commandName));
    this.events.publish(event);
  }

  #notified(child: UpstreamServer, message: Message, related: number | undefined): void {
    const { clients, suspendedCalls, tasks } = this;
    const to = addresseeOf(child, message, related, { tasks, elicitations: suspendedCalls.elicitations });
    if (!clients.notified(child, message, related, to))
      this.options.log.debug?.(
        `[${child.serverKey}] dropped ${quoted(message.method)}: no client has what it names`,
      );
  }

  /** `owner` is the client that has the server for itself. */
  #asked(child: UpstreamServer, message: Message, { related, owner }: QuestionContext): void {
    const { clients, fleet, suspendedCalls, tasks } = this;
    const asker = fleet.servers.askerOf(child.serverKey);
    const told = tasks.publicMessage(child, message);
    const question = asker === undefined ? told : prefixRequest(told, asker);
    const identity = owner?.identity ?? tasks.askedFor(question);
    const client = identity === undefined ? clients.only : clients.known(identity);
    const onlyClient = client?.view.hasServer(child.serverKey) === true ? client : undefined;
    ask(child, question, { related, identity, onlyClient, suspendedCalls, tasks, budget: this.#questions });
  }
}

function autoDisabledAlert(
  { serverKey, at, status: { retryState } }: ServerEvent,
  commandName: string,
): string {
  const { backoffIntervals, nextRetryAt } = retryState;
  const attempts = backoffIntervals.length;
  return nextRetryAt === undefined
    ? Texts.autoDisabled(serverKey, attempts, commandName)
    : Texts.unreachable(serverKey, { attempts, every: duration(nextRetryAt - at), commandName });
}
