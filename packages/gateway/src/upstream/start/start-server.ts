import type { ServerConfig } from '../../config/config.generated.ts';
import type { Log } from '../../log.ts';
import type { Era } from '../../protocol/eras.ts';
import { Method } from '../../protocol/methods.ts';
import { Deadline } from '../../time/deadline.ts';
import type { Account } from '../../wire/account.ts';
import type { Message } from '../../wire/message.ts';
import { NO_LISTS, type Kind, type Listing } from '../catalogue/catalogue.ts';
import type { Connection, Stoppable } from '../connection.ts';
import { Conversation } from '../conversation.ts';
import { sharingOf } from '../pool/instances.ts';
import type { ServerOptions } from '../server-options.ts';
import { startupTimeouts, transportOf, type StartupTimeouts, type Transport } from '../transports.ts';
import type { HandshakeResult } from './negotiate.ts';

export interface ServerStartOptions extends ServerOptions {
  readonly serverKey: string;
  readonly config: ServerConfig;
  readonly ownLog: Log;
  isStopped(): boolean;
  /** Hears of each connection; a server that ends during its handshake is started a second time. */
  opened(connection: Connection): void;
  /** Hears that the start is repeated in the other era. */
  repeated(): void;
  request(message: Message, related?: number): void;
  notification(message: Message, related?: number): void;
  prepare(kind: Kind, listing: Listing): Promise<void> | undefined;
  listChanged(kind: Kind): void;
  /** Hears that the server holds too much memory. */
  exceeded(account: Account, reason: string): void;
  /** Hears of an exception in work for the server. */
  failed(account: Account, error: Error): void;
}

/** One start of a server: opens a connection, agrees on an era, reads the lists. */
export class ServerStart {
  readonly #options: ServerStartOptions;
  readonly #timeouts: StartupTimeouts;
  readonly #transport: Transport;
  /** Container from the moment on when it may have to be stopped. */
  #arriving: Stoppable | undefined;
  #conversation: Conversation | undefined;
  #chosenEra: Era | undefined;
  #diesOfHandshake = false;

  constructor(options: ServerStartOptions) {
    this.#options = options;
    this.#transport = transportOf(options.config);
    this.#timeouts = startupTimeouts(options.config, options.context.startupTimeout);
  }

  /** Conversation that the start has opened; that of the second process, where the first ended. */
  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  /** Process, container or session that has to be stopped. */
  get remains(): Stoppable | undefined {
    return this.#arriving ?? this.#conversation?.connection;
  }

  get isModernOnly(): boolean {
    return this.#diesOfHandshake || this.#conversation?.handshake?.isModernOnly === true;
  }

  /** True for a shared local server that may speak both eras, as long as no client has decided which is used. */
  get isEraOpen(): boolean {
    const isShared = sharingOf(this.#options.config).sharing === 'shared';
    const isDecided = this.#isRemote || this.#chosenEra !== undefined || this.isModernOnly;
    return isShared && !isDecided && this.#conversation?.era === 'modern';
  }

  /** Resolves when the server has answered its handshake and its first lists. */
  async run(): Promise<void> {
    const { config, context } = this.#options;
    const prescribed = config.era ?? this.#options.era;
    const { command, args } = this.#transport.identity(config);
    const knownEra =
      prescribed ?? this.#transport.era?.(config) ?? (await context.eraCache.recall(command, args));
    const { certain, isModern } = await this.#connect(knownEra);
    const era = isModern ? 'modern' : 'legacy';
    if (certain && prescribed === undefined && era !== knownEra)
      context.eraCache.remember(command, args, era);
  }

  /** Starts a process and shakes hands; a process that the handshake ends is started once more, in the other era. */
  async #connect(knownEra: Era | undefined): Promise<HandshakeResult> {
    const conversation = await this.#launch();
    const { connection } = conversation;
    // Nothing was asked yet that the server could have ended for.
    const capabilities = await connection.raceExit(this.#options.capabilities);
    const deadline = this.#setDeadline(conversation);
    try {
      return await this.#open(conversation, { knownEra, capabilities, deadline });
    } catch (error) {
      const hasDied = connection.peer.gone !== undefined && !deadline.isOver && !this.#options.isStopped();
      if (!hasDied || knownEra === 'legacy' || this.#isEraFixed) throw error;
      // Only a start without the probe shows whether the probe has ended it or a mistake of its own.
      if (connection.heard === 0) {
        this.#repeat(`ended before it answered ${Method.DISCOVER} of the modern era`, 'legacy');
        return await this.#connect('legacy');
      }
      // Only the probe was answered: the legacy handshake has ended it.
      if (connection.heard > 1 || !this.#prefersLegacy) throw error;
      this.#diesOfHandshake = true;
      this.#repeat(`ended before it answered ${Method.INITIALIZE} of the legacy era`, 'modern');
      return await this.#connect(knownEra);
    } finally {
      deadline.cancel();
    }
  }

  /** Says why a second process is started; from then on, the log leaves out what that one repeats of the first. */
  #repeat(why: string, era: Era): void {
    this.#options.ownLog.info(`The server ${why}; Weir starts it once more, in the ${era} era`);
    this.#options.repeated();
  }

  async #launch(): Promise<Conversation> {
    const { config, serverKey, context, ownLog: log, ...options } = this.#options;
    const account = context.accounts.open((reason) => options.exceeded(account, reason));
    const connection = await this.#transport.open({
      config,
      guard: context.guard,
      get slots() {
        return context.slots;
      },
      environmentOf: context.environmentOf,
      clientInfo: context.clientInfo,
      chain: context.chain,
      containers: context.containers,
      serverKey,
      log,
      account,
      isClientFolder: options.isClientFolder,
      maxMessageSize: context.maxMessageSize,
      listenTimeoutMs: this.#timeouts.startup,
      request: (message, related) => options.request(message, related),
      notification: (message, related) => options.notification(message, related),
      failed: (error) => options.failed(account, error),
      renewed: () => this.#conversation?.lists?.refreshAll(),
      outdated: async () => this.#conversation?.lists?.readNow('tools'),
      isStopped: () => options.isStopped(),
      arriving: (container) => {
        this.#arriving = container;
      },
    });
    const conversation = new Conversation(connection);
    this.#conversation = conversation;
    if (options.isStopped()) throw new Error('was stopped while it started');
    options.opened(connection);
    return conversation;
  }

  async #open(
    conversation: Conversation,
    { knownEra, capabilities, deadline }: Opening,
  ): Promise<HandshakeResult> {
    const { serverKey, config, ownLog, context } = this.#options;
    this.#chosenEra = this.#options.chosenEra?.(serverKey);
    const { clientInfo } = context;
    const handshake = await conversation.open(
      { clientInfo, capabilities },
      {
        serverKey,
        knownEra,
        isFixed: this.#isEraFixed,
        // Half of the remaining time is for the legacy handshake, because some servers do not answer a probe.
        probeTimeoutMs: Math.min(this.#timeouts.probe, deadline.remaining() / 2),
        prefersLegacy: this.#prefersLegacy,
      },
    );
    await conversation.readLists(
      {
        earlier: this.#options.earlierLists?.(serverKey) ?? NO_LISTS,
        warn: (text) => ownLog.warn(this.#transport.hideSecrets(text, config)),
        prepare: (kind, listing) => this.#options.prepare(kind, listing),
        changed: (kind) => this.#options.listChanged(kind),
      },
      () => deadline.remaining(),
    );
    return handshake;
  }

  get #isRemote(): boolean {
    return this.#transport.isRemote;
  }

  get #isEraFixed(): boolean {
    return this.#options.config.era !== undefined || this.#options.isEraFixed === true;
  }

  /** True where legacy clients use a local server. A remote one gets a second session for them. */
  get #prefersLegacy(): boolean {
    return !this.#isRemote && !this.#diesOfHandshake && this.#chosenEra === 'legacy';
  }

  /** Fails the conversation when the server has not answered in time. */
  #setDeadline({ connection }: Conversation): Deadline {
    return new Deadline(this.#timeouts, this.#options.context.startClock, (limitMs) => {
      const what = this.#conversation?.handshake === undefined ? 'the handshake' : Method.LIST_TOOLS;
      const remedy = 'if it needs longer, set "startupTimeout" (in milliseconds) in its entry';
      connection.fail(`did not answer ${what} within ${Math.round(limitMs) / 1000} s; ${remedy}`);
    });
  }
}

interface Opening {
  readonly knownEra: Era | undefined;
  readonly capabilities: string;
  readonly deadline: Deadline;
}
