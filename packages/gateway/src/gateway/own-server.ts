import { quoted, RpcError, RpcErrorCode } from '../errors.ts';
import { Method } from '../protocol/methods.ts';
import { OWN_KEY } from '../registry/names.ts';
import { instructionsUri } from '../registry/uris.ts';
import {
  KINDS,
  listedKinds,
  NO_LISTS,
  readTools,
  type Catalogue,
  type Kind,
} from '../upstream/catalogue/catalogue.ts';
import { readItem } from '../upstream/catalogue/read-list.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { NO_ACCOUNT } from '../wire/account.ts';
import { errorLine, resultLine } from '../wire/answer.ts';
import { stringValue } from '../wire/json/members.ts';
import { encode, lineBytes, type Line } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { Peer } from '../wire/peer.ts';

export const STATUS = 'status';

const STATUS_TOOL = {
  name: STATUS,
  title: 'Servers that are not available',
  description:
    'Lists the servers behind this gateway that are not available now, with the reason, since when, when the gateway tries again and what to do. Call it when a tool that you expect is missing.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

/** Tools and resources of the gateway itself. */
export interface OwnOffer {
  /** True while the status tool is listed. */
  readonly hasStatus: boolean;
  /** Whole instructions of servers, by key; each is a resource. */
  readonly texts: ReadonlyMap<string, string>;
}

const NOTHING: OwnOffer = { hasStatus: false, texts: new Map() };

/** The gateway's own server: no process and no connection, only an in-memory link that answers requests itself. */
export class OwnServer implements Upstream {
  readonly serverKey: string = OWN_KEY;
  readonly era = 'modern';
  readonly isModernOnly = true;
  readonly sharing = 'shared';
  readonly cwdFromRoots = false;
  readonly instructions = undefined;
  readonly peer: Peer;
  readonly #status: () => string;
  #offer = NOTHING;
  #catalogue = NO_LISTS;

  /** `status` returns the text of the status tool. */
  constructor(status: () => string) {
    this.#status = status;
    this.peer = new Peer({
      account: NO_ACCOUNT,
      backlog: 0,
      // Not at once: who sends a request does not expect the answer before it has returned.
      send: (line) => queueMicrotask(() => this.#receive(line)),
      pause() {},
      resume() {},
      close() {},
    });
  }

  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  /** Only those of which it lists something: their cache hints count for the lists of all servers. */
  get capabilities(): Upstream['capabilities'] {
    return Object.fromEntries(listedKinds(this.#catalogue).map((kind) => [KINDS[kind].capability, {}]));
  }

  /** Offers this from now on; returns the kinds of which the list has changed. */
  offer(offer: OwnOffer): Kind[] {
    const before = this.#offer;
    this.#offer = offer;
    const kinds: Kind[] = [];
    if (offer.hasStatus !== before.hasStatus) kinds.push('tools');
    if ([...offer.texts.keys()].join('\0') !== [...before.texts.keys()].join('\0')) kinds.push('resources');
    if (kinds.length > 0) this.#catalogue = catalogueOf(offer);
    return kinds;
  }

  hold(): void {}

  watch(): void {}

  unwatch(): boolean {
    return true;
  }

  watches(): boolean {
    return false;
  }

  async callTool(): Promise<unknown> {
    return this.#statusResult();
  }

  async listTools(): ReturnType<Upstream['listTools']> {
    return { tools: readTools(this.#catalogue) };
  }

  #receive(line: Line): void {
    const message = readMessage(lineBytes(line));
    if (message.kind !== 'request') return;
    const result = this.#answer(message);
    const answer =
      result instanceof RpcError ? errorLine(message.id, result) : resultLine(message.id, encode(result));
    const response = readMessage(lineBytes(answer));
    if (response.kind !== 'invalid') this.peer.take(response);
  }

  #answer({ method, params }: Message): object {
    const key = method === Method.CALL_TOOL ? 'name' : 'uri';
    const named = (params && stringValue(params, key)) ?? '';
    if (method === Method.CALL_TOOL && named === STATUS) return this.#statusResult();
    const text = method === Method.READ_RESOURCE ? this.#textAt(named) : undefined;
    if (text === undefined)
      return new RpcError(
        RpcErrorCode.METHOD_NOT_FOUND,
        `The gateway itself has nothing of this name for ${quoted(method)}.`,
      );
    const contents = [{ uri: named, mimeType: 'text/plain', text }];
    return { resultType: 'complete', ttlMs: 0, cacheScope: 'private', contents };
  }

  #statusResult(): object {
    return { resultType: 'complete', content: [{ type: 'text', text: this.#status() }] };
  }

  #textAt(uri: string): string | undefined {
    for (const [serverKey, text] of this.#offer.texts) if (instructionsUri(serverKey) === uri) return text;
    return undefined;
  }
}

function catalogueOf({ hasStatus, texts }: OwnOffer): Catalogue {
  const resources = Array.from(texts.keys(), (serverKey) => ({
    uri: instructionsUri(serverKey),
    name: `instructions of ${serverKey}`,
    description: `The full instructions of server '${serverKey}'.`,
    mimeType: 'text/plain',
  }));
  return {
    ...NO_LISTS,
    tools: listing('tools', hasStatus ? [STATUS_TOOL] : []),
    resources: listing('resources', resources),
  };
}

function listing(kind: Kind, definitions: readonly object[]): Catalogue[Kind] {
  const items = definitions.map((definition) =>
    readItem(Buffer.from(JSON.stringify(definition)), KINDS[kind].key),
  );
  return { ...NO_LISTS[kind], items: items.filter((item) => item !== undefined) };
}
