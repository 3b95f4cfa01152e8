import type { Store } from '@weir/server/store';
import { shortHash } from '../hash.ts';
import type { Era } from '../protocol/eras.ts';

/** Seven days: a server may be replaced by a newer one under the same command. */
const LASTS_MS = 7 * 24 * 60 * 60 * 1000;

/** Remembers from start to start which era a command speaks. A store that fails costs a slower handshake, nothing else. */
export class EraCache {
  readonly #store: Store;
  readonly #now: () => number;
  #written: Promise<void> = Promise.resolve();

  constructor(store: Store, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  async recall(command: string, args: readonly string[]): Promise<Era | undefined> {
    try {
      const found = await this.#store.get(nameOf(command, args));
      return found && this.#read(found);
    } catch {
      return undefined;
    }
  }

  remember(command: string, args: readonly string[], era: Era): void {
    const text = `${JSON.stringify({ era, at: this.#now() })}\n`;
    const written = this.#store.set(nameOf(command, args), Buffer.from(text)).catch(() => {});
    this.#written = this.#written.then(() => written);
  }

  /** Resolves when all that is remembered is written, or cannot be. */
  async flush(): Promise<void> {
    await this.#written;
  }

  #read(found: Buffer): Era | undefined {
    const { era, at } = JSON.parse(found.toString('utf8')) as { era?: unknown; at?: unknown };
    const now = this.#now();
    const isFresh = typeof at === 'number' && at <= now && now - at < LASTS_MS;
    return isFresh && (era === 'legacy' || era === 'modern') ? era : undefined;
  }
}

function nameOf(command: string, args: readonly string[]): string {
  return shortHash(JSON.stringify([command, ...args]));
}
