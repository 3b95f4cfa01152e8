import type { Era } from '../../protocol/eras.ts';
import { NO_ACCOUNT } from '../../wire/account.ts';
import { Peer } from '../../wire/peer.ts';
import { readTools, type Catalogue, type ToolSchema } from '../catalogue/catalogue.ts';
import type { Sharing } from '../pool/instances.ts';
import { Unavailable } from '../unavailable.ts';
import type { Upstream } from '../upstream.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';

/** Link without a server. */
const NO_LINK = { account: NO_ACCOUNT, backlog: 0, send() {}, pause() {}, resume() {}, close() {} };

export interface LazyUpstreamOptions {
  readonly serverKey: string;
  readonly sharing: Sharing;
  readonly cwdFromRoots: boolean;
  /** Starts the server, unless it runs; rejects with why it does not. */
  readonly wake: () => Promise<Upstream>;
}

/** A server that does not run until it is needed. Its lists come from a snapshot. */
export class LazyUpstream implements Upstream {
  readonly isPlaceholder = true;
  readonly serverKey: string;
  readonly sharing: Sharing;
  readonly cwdFromRoots: boolean;
  readonly era: Era;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
  readonly catalogue: Catalogue;
  readonly #wake: () => Promise<Upstream>;
  #peer: Peer | undefined;

  constructor(snapshot: CatalogueSnapshot, { serverKey, sharing, cwdFromRoots, wake }: LazyUpstreamOptions) {
    this.serverKey = serverKey;
    this.sharing = sharing;
    this.cwdFromRoots = cwdFromRoots;
    this.era = snapshot.era;
    this.capabilities = snapshot.capabilities;
    this.instructions = snapshot.instructions;
    this.catalogue = snapshot.catalogue;
    this.#wake = wake;
  }

  /** Made when first needed, because most placeholders get no request. */
  get peer(): Peer {
    if (this.#peer === undefined) {
      this.#peer = new Peer(NO_LINK);
      this.#peer.fail(new Unavailable(this.serverKey, 'has not started yet'));
    }
    return this.#peer;
  }

  hold(): void {}

  /** Starts the server, because only a running server sends updates; the gateway subscribes again once it runs. */
  watch(_uri: string, isAsked = false): void {
    // A client's own request wakes it, too.
    if (!isAsked) this.#wake().catch(() => {});
  }

  unwatch(): boolean {
    return true;
  }

  watches(): boolean {
    return false;
  }

  async callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown> {
    return (await this.#wake()).callTool(params);
  }

  async listTools(): Promise<{ tools: ToolSchema[] }> {
    return { tools: readTools(this.catalogue) };
  }
}
