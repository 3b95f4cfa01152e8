import type { Era } from '../../protocol/eras.ts';

/** Eras of local servers that may speak both. Each is decided once, for all clients. */
export class LocalEras {
  readonly #onlyEra: () => Era | undefined;
  readonly #decided = new Map<string, Era>();
  readonly #switched = new Set<string>();

  /** `onlyEra` returns the era of a client that stays the only one. */
  constructor(onlyEra: () => Era | undefined) {
    this.#onlyEra = onlyEra;
  }

  /** Returns the era for the next start of a server; undefined while no client has used the server. */
  of(serverKey: string): Era | undefined {
    return this.#decided.get(serverKey) ?? this.#onlyEra();
  }

  /** Decides the era of a server, unless that was done before; returns the decision. */
  decide(serverKey: string, era: Era): Era {
    const decided = this.#decided.get(serverKey) ?? era;
    this.#decided.set(serverKey, decided);
    return decided;
  }

  /** Notes that a server speaks no legacy era, so that its next start does not try that. */
  setModernOnly(serverKey: string): void {
    this.#decided.set(serverKey, 'modern');
  }

  /** Notes that a server is restarted in the legacy era, because its first client came after its start. */
  switchToLegacy(serverKey: string): void {
    this.#switched.add(serverKey);
  }

  isSwitched(serverKey: string): boolean {
    return this.#switched.has(serverKey);
  }

  forget(serverKey: string): void {
    this.#decided.delete(serverKey);
    this.#switched.delete(serverKey);
  }
}
