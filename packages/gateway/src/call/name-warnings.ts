import type { Log } from '../log.ts';
import { copesWithNames, nameWarning, refusedNames } from '../registry/host-name-rules.ts';
import type { ClientRequest } from './client-request.ts';
import { clientInfoText } from './history/client-names.ts';
import type { GatewaySnapshot } from './snapshot.ts';

/** Names that were told of, beyond which no more are: a server may list new ones without end. */
const MOST_TOLD = 10_000;

/** Warns of tool names that hosts refuse: when a client that may be such a host lists them, and once for each name. */
export class NameWarnings {
  readonly #log: Log;
  readonly #told = new Set<string>();
  /** The lists that were looked through. */
  readonly #seen = new WeakSet<GatewaySnapshot['registry']['tools']>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Looks through the list that a client was given; the answer is written before. */
  listed({ snapshot, services, caller, message }: ClientRequest): void {
    if (this.#seen.has(snapshot.registry.tools)) return;
    const clientInfo = clientInfoText(caller, message);
    setImmediate(() => this.#look(snapshot, services.history.clients.of(clientInfo)?.name));
  }

  #look({ registry, builder }: GatewaySnapshot, clientName: string | undefined): void {
    if (this.#seen.has(registry.tools) || copesWithNames(clientName)) return;
    this.#seen.add(registry.tools);
    this.#warn([...registry.tools.keys()], builder.books.tools.rules.noPrefix);
  }

  #warn(names: readonly string[], noPrefix: boolean): void {
    if (this.#told.size >= MOST_TOLD) return;
    const refused = refusedNames(names);
    if (refused.every((name) => this.#told.has(name))) return;
    for (const name of refused) this.#told.add(name);
    this.#log.warn(nameWarning(refused, { total: names.length, noPrefix }));
  }
}
