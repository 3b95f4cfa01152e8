import { Meta } from '../../protocol/eras.ts';
import { Method } from '../../protocol/methods.ts';
import { BackOff } from '../../time/back-off.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { requestLine } from '../../wire/answer.ts';
import { stringValue, valueText } from '../../wire/json/members.ts';
import { encode } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';

/** Listens to what a modern server tells of some tasks, on behalf of one request of one client. */
export class TaskListener {
  readonly #params: string;
  readonly #again = new BackOff({ isBackground: true });
  #upstream: Upstream;
  #id = 0;

  /** `ids` are the server's own; `meta` are the members of `_meta` that speak for the client. */
  constructor(upstream: Upstream, ids: readonly string[], meta: string) {
    this.#params = `{"notifications":${encode({ taskIds: ids })},"_meta":{${meta}}}`;
    this.#upstream = upstream;
    this.#listen();
  }

  get serverKey(): string {
    return this.#upstream.serverKey;
  }

  /** The server has been started again, and may know its tasks still. */
  renew(upstream: Upstream): void {
    this.#again.stop();
    this.#upstream = upstream;
    this.#listen();
  }

  /** Returns true for a notification of this listener; several clients may listen to the same task. */
  isFor(upstream: Upstream, { meta }: Message): boolean {
    const named = meta && (stringValue(meta, Meta.SUBSCRIPTION_ID) ?? valueText(meta, Meta.SUBSCRIPTION_ID));
    return upstream === this.#upstream && named === String(this.#id);
  }

  stop(): void {
    const { peer } = this.#upstream;
    this.#again.stop();
    peer.forget(this.#id);
    peer.notify(Method.CANCELLED, { requestId: this.#id });
  }

  #listen(): void {
    const { peer } = this.#upstream;
    if (peer.gone !== undefined) return;
    this.#id = peer.onResponse({ isOwn: true, answered() {}, progressed() {}, lost: () => this.#broken() });
    peer.send(requestLine(this.#id, Method.LISTEN, this.#params));
  }

  /** Listens again after a broken stream; a server that ends it by an answer means it. */
  #broken(): void {
    this.#again.schedule(() => this.#listen());
  }
}
