/** Characters of an id that is remembered: servers choose it, and those in use have less than 100. */
const LONGEST_ID = 1024;

/** Remembers which client a server has given which id. The bound holds for each server, so that none can displace what others gave out. */
export class Owners {
  readonly #mostOfServer: number;
  readonly #forgotten: (serverKey: string, id: string) => void;
  readonly #byServer = new Map<string, Map<string, string>>();

  /** `forgotten` is called with the oldest id when it has to make room. */
  constructor(mostOfServer: number, forgotten: (serverKey: string, id: string) => void = () => {}) {
    this.#mostOfServer = mostOfServer;
    this.#forgotten = forgotten;
  }

  /** Returns false for an id that is too long to be remembered. */
  note(serverKey: string, id: string, identity: string): boolean {
    if (id.length > LONGEST_ID) return false;
    const known = this.#byServer.get(serverKey) ?? new Map<string, string>();
    known.delete(id);
    this.#byServer.set(serverKey, known.set(id, identity));
    if (known.size > this.#mostOfServer) {
      const [oldest = ''] = known.keys();
      known.delete(oldest);
      this.#forgotten(serverKey, oldest);
    }
    return true;
  }

  /** Returns the identity of the client that has the id. */
  of(serverKey: string, id: string): string | undefined {
    return this.#byServer.get(serverKey)?.get(id);
  }
}
