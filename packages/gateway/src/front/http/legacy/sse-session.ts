import type { FrontServices } from '../../../gateway/front-services.ts';
import type { Implementation } from '../../../protocol/eras.ts';
import type { Account } from '../../../wire/account.ts';
import type { Message } from '../../../wire/message.ts';
import { Session } from '../../session.ts';
import type { Access } from '../access.ts';
import { EventStream } from '../event-stream.ts';
import type { HeartbeatListener, Heartbeat } from '../heartbeat.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';

export interface SseSessionOptions {
  readonly id: string;
  readonly access: Access;
  readonly serverInfo: Implementation;
  readonly heartbeat: Heartbeat;
  readonly now: () => number;
  readonly account: Account;
  /** URI to which the client posts its messages. */
  readonly endpoint: string;
  /** The client has closed the stream. */
  left(): void;
}

/** A client of HTTP+SSE, the transport of 2024-11-05: one stream carries all answers, and the session ends with it. */
export class SseSession implements HeartbeatListener {
  readonly id: string;
  readonly access: Access;
  readonly isAttended = true;
  readonly #session: Session;
  readonly #stream: EventStream;
  readonly #options: SseSessionOptions;
  readonly #beatNumber: number;

  constructor(gateway: FrontServices, res: OutgoingResponse, options: SseSessionOptions) {
    const stream = new EventStream(res);
    this.id = options.id;
    this.access = options.access;
    this.#options = options;
    this.#stream = stream;
    this.#session = new Session(gateway, () => linkTo(stream, options.account), {
      serverInfo: options.serverInfo,
      view: options.access.view,
      identity: options.id,
      era: 'legacy',
      isAttended: () => this.isAttended,
    });
    this.#beatNumber = options.heartbeat.add(this);
    res.onClose(() => options.left());
    stream.endpoint(options.endpoint);
  }

  /** Requests in flight hold up the end of the front. */
  get isAwaited(): boolean {
    return this.#session.inFlight > 0;
  }

  /** The client is there as long as its stream is. */
  get usedAt(): number {
    return this.#options.now();
  }

  receive(message: Message): void {
    this.#session.receive(message);
  }

  beat(): void {
    this.#stream.beat();
  }

  sweep(): void {}

  end(reason: string): void {
    this.#options.heartbeat.remove(this.#beatNumber);
    this.#session.end(reason);
    this.#stream.end();
  }
}

function linkTo(stream: EventStream, account: Account): ReturnType<ConstructorParameters<typeof Session>[1]> {
  return {
    account,
    send: (line) => stream.event(line),
    // Each message comes in a request of its own: there is no stream of them to be held up.
    pause: () => {},
    resume: () => {},
    get backlog() {
      return stream.backlog;
    },
    close: () => {},
  };
}
