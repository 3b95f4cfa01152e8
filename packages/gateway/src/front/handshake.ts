import type { FrontServices } from '../gateway/front-services.ts';
import type { View } from '../gateway/view.ts';
import type { Implementation } from '../protocol/eras.ts';
import { resultLine } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import type { Origin } from '../wire/peer.ts';
import type { ClientProfile } from './client-profile.ts';
import { answer, methodNotFound } from './dispatch.ts';
import { describeGateway } from './gateway-capabilities.ts';
import { clientCapabilities, discoverResult, initializeResult } from './initialize.ts';

/** Answers what one client asks before it uses a server: `server/discover` and `initialize`. */
export class Handshake {
  readonly #gateway: FrontServices;
  readonly #view: View;
  readonly #profile: ClientProfile;
  readonly #serverInfo: Implementation;

  constructor(gateway: FrontServices, view: View, profile: ClientProfile, serverInfo: Implementation) {
    this.#gateway = gateway;
    this.#view = view;
    this.#profile = profile;
    this.#serverInfo = serverInfo;
  }

  discover(message: Message, origin: Origin): void {
    const { id, method } = message;
    if (this.#profile.isLegacyOnly) return answer(origin, id, methodNotFound(method));
    this.#gateway.lifecycle.recall(clientCapabilities(message));
    const description = describeGateway(this.#view, this.#gateway, 'modern', this.#serverInfo);
    answer(origin, id, discoverResult(message, description));
  }

  initialize(message: Message, origin: Origin): void {
    const description = describeGateway(this.#view, this.#gateway, 'legacy', this.#serverInfo);
    const { version, result } = initializeResult(message, description);
    this.#profile.initialize(message, version);
    origin.answer(resultLine(message.id, result));
    // Clients list the tools next: build that list while the answer is on its way.
    if (this.#gateway.lifecycle.isReady) setImmediate(() => this.#prepareTools());
  }

  #prepareTools(): void {
    const { hasTasks } = this.#profile;
    this.#view.registry.pages.tools.result(undefined, { era: 'legacy', hasTasks });
  }
}
