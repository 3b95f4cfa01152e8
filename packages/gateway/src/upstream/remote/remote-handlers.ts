import type { Message, InvalidInput } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import type { Pause } from '../../wire/peer.ts';

/** Handlers of a link to a server at an address. */
export interface RemoteHandlers {
  /** `related` is the id of the request on whose answer's way the message came. */
  message(message: Message, related?: number): void;
  /** Gets bytes that are not a message; `how` says how they came. */
  invalid(line: InvalidInput, how?: string): void;
  /** A message that was too long to be kept. */
  oversized(message: Oversized): void;
  /** The answer to one request comes later on another stream, so that its client need not wait on its connection. */
  suspended(id: number, pause: Pause): void;
  /** One request will not be answered; `what` ends a sentence that begins with the server's name. */
  lost(id: number, what: string): void;
  /** The server has forgotten us and was greeted anew, or was not heard for a while: what it told meanwhile is lost. */
  renewed(): void;
  /** The server does not agree with what we know of its tools; resolves when they have been read again. */
  outdated(): Promise<void>;
  /** Returns true where the server's revision knows batches. */
  takesBatches(): boolean;
  /** Ends the server after an exception of ours in work for it. */
  readonly failed: (error: Error) => void;
  readonly debug: (text: string) => void;
}
