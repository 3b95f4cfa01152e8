import { createSealing, type Sealing } from './sealing.ts';
import { checkName, StoreError, type ValueChange, type StoreEntry, type Store } from './store.ts';

/** Bytes before a name, which hold its length. */
const LENGTH_BYTES = 2;

interface OpenedSecret {
  readonly name: string;
  readonly value: Buffer;
}

/** Creates a store that encrypts what another one keeps: names as well as values. The master key has 32 bytes. */
export async function createEncryptedStore(inner: Store, masterKey: Buffer): Promise<Store> {
  return new EncryptedStore(inner, await createSealing(masterKey));
}

class EncryptedStore implements Store {
  readonly #inner: Store;
  readonly #sealing: Sealing;

  constructor(inner: Store, sealing: Sealing) {
    this.#inner = inner;
    this.#sealing = sealing;
  }

  async get(name: string): Promise<Buffer | undefined> {
    const hidden = this.#hidden(name);
    const sealed = await this.#inner.get(hidden);
    return sealed && this.#open(hidden, sealed).value;
  }

  async set(name: string, value: Buffer): Promise<void> {
    const hidden = this.#hidden(name);
    await this.#inner.set(hidden, this.#seal(hidden, { name, value }));
  }

  async update(name: string, change: ValueChange): Promise<Buffer | undefined> {
    const hidden = this.#hidden(name);
    const kept = await this.#inner.update(hidden, (before) => {
      const value = change(before && this.#open(hidden, before).value);
      return value && this.#seal(hidden, { name, value });
    });
    return kept && this.#open(hidden, kept).value;
  }

  async delete(name: string): Promise<void> {
    await this.#inner.delete(this.#hidden(name));
  }

  async list(prefix = ''): Promise<StoreEntry[]> {
    const entries = await this.#inner.list();
    const opened = await Promise.all(entries.map((entry) => this.#tryToOpen(entry)));
    return opened.filter((entry) => entry !== undefined).filter(({ name }) => name.startsWith(prefix));
  }

  locate(name: string): string {
    return this.#inner.locate(this.#hidden(name));
  }

  #hidden(name: string): string {
    checkName(name);
    return this.#sealing.hiddenName(name);
  }

  #seal(hidden: string, { name, value }: OpenedSecret): Buffer {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(Buffer.byteLength(name));
    return this.#sealing.seal(hidden, Buffer.concat([length, Buffer.from(name), value]));
  }

  #open(hidden: string, sealed: Buffer): OpenedSecret {
    try {
      const plain = this.#sealing.open(hidden, sealed);
      const end = LENGTH_BYTES + plain.readUInt16BE();
      return { name: plain.toString('utf8', LENGTH_BYTES, end), value: plain.subarray(end) };
    } catch (error) {
      const place = this.#inner.locate(hidden);
      const text = `${place} is damaged or was written with another master key (${(error as Error).message}). Delete it to begin anew.`;
      throw new StoreError(text, { place, cause: error });
    }
  }

  /** Returns undefined where a value cannot be opened: its name stands in it. */
  async #tryToOpen({ name: hidden, writtenAt }: StoreEntry): Promise<StoreEntry | undefined> {
    try {
      const sealed = await this.#inner.get(hidden);
      return sealed && { name: this.#open(hidden, sealed).name, writtenAt };
    } catch {
      return undefined;
    }
  }
}
