import { checkName, StoreError, type ValueChange, type StoreEntry, type Store } from './store-contract.ts';

/** Bytes before a name, which hold its length. */
const LENGTH_BYTES = 2;

interface OpenedSecret {
  readonly name: string;
  readonly value: Buffer;
}

const KEY_BYTES = 32;

/** Encrypts what another store keeps, as `createEncryptedStore` says. */
export async function encrypted(inner: Store, masterKey: Buffer): Promise<Store> {
  if (masterKey.length !== KEY_BYTES)
    throw new Error(`A master key has ${KEY_BYTES} bytes; this one has ${masterKey.length}`);
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
      const text = `${place} is damaged or was written with another master key (${(error as Error).message}). Delete it to start over.`;
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

/** Encrypts values and opens them again. */
interface Sealing {
  /** Returns a name that tells nothing of the real one. */
  hiddenName(name: string): string;
  seal(name: string, plain: Buffer): Buffer;
  /** Throws where a byte has changed, or the value was sealed under another name or with another master key. */
  open(name: string, sealed: Buffer): Buffer;
}

const MAGIC = Buffer.from('weir1\n');
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = MAGIC.length + NONCE_BYTES + TAG_BYTES;

/** Creates AES-256-GCM with this key. Loads its library here, because that costs a megabyte and milliseconds. */
async function createSealing(masterKey: Buffer): Promise<Sealing> {
  const { createCipheriv, createDecipheriv, createHash, randomBytes } = await import('node:crypto');
  return {
    hiddenName: (name) => createHash('sha256').update(name).digest('hex'),
    seal(name, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(boundTo(name));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), body]);
    },
    open(name, sealed) {
      if (sealed.length < HEAD_BYTES || !sealed.subarray(0, MAGIC.length).equals(MAGIC))
        throw new Error('Weir did not write it, or it is truncated');
      const nonce = sealed.subarray(MAGIC.length, MAGIC.length + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG_BYTES })
        .setAAD(boundTo(name))
        .setAuthTag(sealed.subarray(MAGIC.length + NONCE_BYTES, HEAD_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
    },
  };
}

/** Binds a sealed value to its name: one that was copied to the name of another does not open. */
function boundTo(name: string): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(name)]);
}
