import { legacyInfoText } from '../call/history/client-names.ts';
import { handshakeHasTasks, withoutTasks } from '../call/tasks/tasks.ts';
import { canBeAsked } from '../protocol/capabilities.ts';
import type { Envelope, Era, Implementation } from '../protocol/eras.ts';
import { encode } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import { clientCapabilities } from './initialize.ts';

/** Era, version and capabilities of one client, as its first requests declare them. */
export class ClientProfile {
  /** The transport carries only the legacy era, so a modern request must not be answered as one. */
  readonly isLegacyOnly: boolean;
  /** Protocol revision that the handshake settled on; empty before it, and in the modern era. */
  version = '';
  /** Capabilities as JSON; a modern client declares them anew with each request. */
  capabilities = '{}';
  /** True where a server may ask the client something. */
  canBeAsked = false;
  /** True where the handshake declared tasks. */
  hasTasks = false;
  /** `clientInfo` of the handshake as JSON. */
  infoText: string | undefined;
  /** Least log level that a legacy client set. */
  logLevel: string | undefined;
  /** Undefined until the first request settles it. */
  settledEra: Era | undefined;
  /** Legacy until the first request settles it. */
  era: Era;
  #forwardedCapabilities = '{}';

  /** `era` is given where the transport decides it. */
  constructor(era: Era | undefined) {
    this.settledEra = era;
    this.era = era ?? 'legacy';
    this.isLegacyOnly = era === 'legacy';
  }

  /** False before the first request: until then the format of notifications is unknown. */
  get isKnown(): boolean {
    return this.settledEra !== undefined && (this.version !== '' || !this.isLegacyOnly);
  }

  /** Describes the client to a modern server in place of an envelope of its own. */
  envelope(clientInfo: Implementation): Envelope {
    return {
      clientInfo,
      capabilities: this.#forwardedCapabilities,
      logLevel: this.logLevel === undefined ? undefined : encode(this.logLevel),
    };
  }

  /** Settles the era by the first request. */
  settleEra(era: Era, message: Message): void {
    this.settledEra = era;
    this.era = era;
    this.#setCapabilities(clientCapabilities(message));
  }

  /** Takes over what an `initialize` request declares. */
  initialize(message: Message, version: string): void {
    this.version = version;
    if (this.settledEra === 'legacy') this.#setCapabilities(clientCapabilities(message));
    this.infoText = legacyInfoText(message);
    this.hasTasks = handshakeHasTasks(version, this.capabilities);
  }

  #setCapabilities(capabilities: string): void {
    this.capabilities = capabilities;
    this.canBeAsked = canBeAsked(capabilities);
    this.#forwardedCapabilities = this.settledEra === 'legacy' ? withoutTasks(capabilities) : capabilities;
  }
}
