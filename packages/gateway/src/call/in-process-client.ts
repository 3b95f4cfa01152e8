import { RpcError, RpcErrorCode } from '../errors.ts';
import type { Envelope, Implementation } from '../protocol/eras.ts';
import { Method } from '../protocol/methods.ts';
import { readError, readResult } from '../upstream/start/negotiate.ts';
import { NO_ACCOUNT } from '../wire/account.ts';
import { requestLine } from '../wire/answer.ts';
import { encode, lineBytes, type Line } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import type { Origin, Recipient } from '../wire/peer.ts';
import { BY_TOOL } from './addressing.ts';
import { call } from './call.ts';
import { ClientRequest, type ClientHandle } from './client-request.ts';
import type { InvocationSource } from './history/invocation.ts';
import type { GatewaySnapshot } from './snapshot.ts';

/** Its requests are answered one by one: the same id will do for all. */
const ID = 1;

/** A program that uses the gateway in its own process. Its calls take the way of all others: limits, history and retries hold. */
export class InProcessClient implements ClientHandle {
  readonly identity = 'program';
  readonly isSharedToken = true;
  readonly canBeAsked = false;
  readonly source: InvocationSource;
  readonly #envelope: Envelope;

  constructor(source: InvocationSource, clientInfo: Implementation) {
    this.source = source;
    this.#envelope = { clientInfo, capabilities: '{}' };
  }

  notified(): void {}

  /** Returns a recipient that refuses: a program declares no capability for questions. */
  recipient(): Recipient {
    return NOBODY;
  }

  callTool(snapshot: GatewaySnapshot, name: string, args: Record<string, unknown>): Promise<unknown> {
    const line = requestLine(ID, Method.CALL_TOOL, encode({ name, arguments: args }));
    const message = readMessage(lineBytes(line)) as Message;
    return new Promise((resolve, reject) => {
      const origin = new Awaited(resolve, reject);
      const caller = { origin, era: 'legacy', envelope: this.#envelope, client: this } as const;
      call(new ClientRequest(snapshot, caller, message), BY_TOOL);
    });
  }
}

/** Settles the promise of one call; drops notifications. */
class Awaited implements Origin {
  readonly account = NO_ACCOUNT;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: unknown) => void;

  constructor(resolve: (result: unknown) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(): void {}

  answer(line: Line): void {
    const answer = readMessage(lineBytes(line)) as Message;
    if (answer.isError) return this.#reject(readError(answer));
    try {
      this.#resolve(readResult(answer));
    } catch (error) {
      this.#reject(error);
    }
  }

  track(): number {
    return 0;
  }

  untrack(): void {}
}

const NOBODY: Recipient = {
  gone: new RpcError(
    RpcErrorCode.UNAVAILABLE,
    'A program that calls tools without a client cannot answer questions',
  ),
  account: NO_ACCOUNT,
  isBehind: false,
  onResponse: () => 0,
  forget() {},
  send() {},
  notify() {},
};
