import type { Conversation } from '../conversation.ts';

/** Counts what clients ask of a server, over all sessions with it. */
export class ServerUsage {
  readonly #conversation: () => Conversation | undefined;
  readonly #isFollowed: () => boolean;
  #legacySession: ServerUsage | undefined;
  #waiting = 0;

  /** `isFollowed` returns true while a client wants to hear from the server. */
  constructor(conversation: () => Conversation | undefined, isFollowed: () => boolean) {
    this.#conversation = conversation;
    this.#isFollowed = isFollowed;
  }

  /** Number of answers that clients wait for. */
  get inFlight(): number {
    return (this.#conversation()?.peer.inFlight ?? 0) + (this.#legacySession?.inFlight ?? 0);
  }

  /** Number of requests since the server was started. */
  get asked(): number {
    return (this.#conversation()?.peer.requestCount ?? 0) + (this.#legacySession?.asked ?? 0);
  }

  /** True while clients wait for an answer, or for a session with the server. */
  get isAwaited(): boolean {
    return this.inFlight > 0 || this.#waiting > 0;
  }

  /** True while clients wait for the server, are asked by it, or want to hear from it. */
  get isInUse(): boolean {
    if (this.isAwaited || this.isAsking) return true;
    return this.#conversation()?.resources?.isAsked === true || this.#isFollowed();
  }

  /** True while the server waits for an answer to a question of its own. */
  get isAsking(): boolean {
    const tracked = this.#conversation()?.peer.trackedCount ?? 0;
    return tracked > 0 || this.#legacySession?.isAsking === true;
  }

  /** Counts the server as in use until a promise settles. */
  async during(something: Promise<unknown>): Promise<void> {
    this.#waiting++;
    try {
      await something;
    } finally {
      this.#waiting--;
    }
  }

  /** Counts a second session with the same remote server, until it ends. */
  setLegacySession(usage: ServerUsage | undefined): void {
    this.#legacySession = usage;
  }
}
