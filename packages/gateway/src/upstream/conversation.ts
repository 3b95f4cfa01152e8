import { envelopeMembers, type Envelope, type Era } from '../protocol/eras.ts';
import { systemTimers } from '../time/schedule.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import { NO_LISTS, type Catalogue } from './catalogue/catalogue.ts';
import { LiveCatalogue, type LiveCatalogueOptions } from './catalogue/live-catalogue.ts';
import { ResourceSubscriptions } from './catalogue/resource-subscriptions.ts';
import type { Connection } from './connection.ts';
import { shakeHands, type HandshakeResult, type HandshakeOptions } from './start/negotiate.ts';
import { ping, type Probed } from './supervision/probe.ts';

type FirstListOptions = Pick<LiveCatalogueOptions, 'earlier' | 'warn' | 'prepare' | 'changed'>;

/** One connection to a server, the era agreed on it, the lists read over it and the resources watched through it. */
export class Conversation implements Probed {
  readonly connection: Connection;
  #handshake: HandshakeResult | undefined;
  #lists: LiveCatalogue | undefined;
  #resources: ResourceSubscriptions | undefined;
  #meta = '';
  #isHeld = false;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get peer(): Peer {
    return this.connection.peer;
  }

  /** Answers to the handshake; undefined until it is over. */
  get handshake(): HandshakeResult | undefined {
    return this.#handshake;
  }

  get era(): Era {
    return this.#handshake?.era ?? 'legacy';
  }

  get lists(): LiveCatalogue | undefined {
    return this.#lists;
  }

  get catalogue(): Catalogue {
    return this.#lists?.listings ?? NO_LISTS;
  }

  get resources(): ResourceSubscriptions | undefined {
    return this.#resources;
  }

  /** Members of `_meta` for every request to a modern server; empty for a legacy one. */
  get meta(): string {
    return this.#meta;
  }

  get heard(): number {
    return this.connection.heard;
  }

  get isExcused(): boolean {
    return this.#isHeld || this.peer.inFlight > 0;
  }

  /** Agrees on an era, and returns what the server has said of itself. */
  async open(envelope: Envelope, options: Omit<HandshakeOptions, 'envelope'>): Promise<HandshakeResult> {
    const handshake = await shakeHands(this.peer, { ...options, envelope });
    const { era, capabilities, version } = handshake;
    this.#handshake = handshake;
    this.#meta = era === 'legacy' ? '' : envelopeMembers(envelope);
    this.peer.version = version;
    // Before the lists are read: a change right after would go unheard.
    const missed = (): void => this.#lists?.refreshAll();
    this.#resources = new ResourceSubscriptions(this.peer, { era, meta: this.#meta, capabilities, missed });
    return handshake;
  }

  /** Reads all lists for the first time. */
  async readLists(options: FirstListOptions, remainingMs: () => number): Promise<void> {
    const { peer, era } = this;
    this.#lists = new LiveCatalogue({
      ...options,
      capabilities: this.#handshake?.capabilities ?? {},
      era,
      meta: this.#meta,
      timers: systemTimers,
      request: (method, params) => peer.request(method, params),
      isGone: () => peer.gone !== undefined,
      account: peer.account,
      screen: era === 'modern' ? this.connection.screen : undefined,
    });
    await this.#lists.loadAll(remainingMs);
  }

  /** Handles what a server tells the gateway itself; returns false for a notification that clients get. */
  take({ method }: Message): boolean {
    if (method.endsWith('/list_changed')) {
      this.#lists?.refresh(method);
      return true;
    }
    if (method === 'notifications/subscriptions/acknowledged') this.#resources?.acknowledged();
    return false;
  }

  /** Stops and restarts the flow of what the server says. */
  hold(hold: boolean): void {
    this.#isHeld = hold;
    this.connection.hold(hold);
  }

  ask(answered: () => void, failed: (reason: string) => void): () => void {
    return ping(this.peer, this.#meta, { answered, failed });
  }
}
