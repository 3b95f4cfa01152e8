import { Texts, RpcError, RpcErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { now } from '../time/clock.ts';
import { Repeats } from '../upstream/supervision/server-logs.ts';
import { answerError } from '../wire/answer.ts';
import { visitBatch } from '../wire/batch.ts';
import { describeInvalidText } from '../wire/describe-invalid.ts';
import type { InvalidInput, Message } from '../wire/message.ts';
import type { Oversized, PartialHead } from '../wire/oversized.ts';
import type { Peer } from '../wire/peer.ts';

/** Refuses lines of one client that are not messages, and fails the one call that each belongs to. */
export class InvalidInputHandler {
  readonly #client: Peer;
  readonly #log: Log;
  readonly #takesBatches: () => boolean;
  #warnings: Repeats | undefined;

  constructor(client: Peer, log: Log, takesBatches: () => boolean) {
    this.#client = client;
    this.#log = log;
    this.#takesBatches = takesBatches;
  }

  /** Refuses a line; each request of a batch by its own id, so that the client waits for none. */
  refuse(line: InvalidInput): void {
    const isBatch = line.reason === 'batch' && !this.#takesBatches();
    if (!isBatch || !visitBatch(line.bytes, (part) => this.#refusePart(part))) this.#refuseLine(line);
  }

  #refuseLine({ id, likelyKind, reason, bytes }: InvalidInput): void {
    this.#warn(`The client sent a line that is not a message (${reason})`);
    this.#answer({ id, likelyKind }, reason === 'not-json' ? notJson(bytes) : notAMessage());
  }

  refuseOversized({ id, likelyKind, size }: Oversized, maxMessageSize: number): void {
    const text = `Message of ${size} bytes is over the limit of ${maxMessageSize}; raise --max-message-size to allow it`;
    this.#warn(`The client's message was refused: ${text}`);
    this.#answer({ id, likelyKind }, new RpcError(RpcErrorCode.INVALID_REQUEST, text));
  }

  #refusePart(part: Message | InvalidInput): void {
    if (part.kind === 'invalid') this.#refuseLine(part);
    else if (part.kind === 'request') answerError(this.#client, part.id, batchRefused());
  }

  /** Warns at most once in a while of the same thing. */
  #warn(text: string): void {
    this.#warnings ??= new Repeats(now);
    const unreported = this.#warnings.say(text);
    if (unreported !== undefined) this.#log.warn(unreported);
  }

  /** Answers a request with the error; fails the call of a server that waits for the client's answer. */
  #answer({ id, likelyKind }: PartialHead, error: RpcError): void {
    if (id === undefined) return;
    if (likelyKind === 'request') answerError(this.#client, id, error);
    else if (likelyKind === 'response') this.#client.failRequest(id, invalidAnswer(error));
  }
}

function notJson(bytes: Buffer): RpcError {
  const problem = describeInvalidText(bytes);
  const text = problem === undefined ? 'Not JSON' : `Not JSON: the message contains ${problem}`;
  return new RpcError(RpcErrorCode.PARSE_ERROR, text);
}

function notAMessage(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, 'Not a JSON-RPC 2.0 message');
}

function batchRefused(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, Texts.batchRefused());
}

/** Returns the error of the call in which a server asked the client. */
function invalidAnswer({ message }: RpcError): RpcError {
  return new RpcError(RpcErrorCode.UNAVAILABLE, `The client's answer is invalid. ${message}`);
}
