import { isSecretName, KEY_CHECK } from './kept-secrets.ts';
import { checkName, StoreError, type ValueChange, type StoreEntry, type Store } from './store-contract.ts';

/** Bytes before a name, which hold its length. */
const LENGTH_BYTES = 2;

interface OpenedSecret {
  readonly name: string;
  readonly value: Buffer;
}

const KEY_BYTES = 32;

/** Content of the record that only the right key opens. */
const CHECKED = Buffer.from('This is the right key.');
/** Records of a folder without that record that are tried: some may be damaged. */
const TRIED = 16;

/**
 * Encrypts what another store keeps, as `createEncryptedStore` says. With a text for a key that does not open what is there,
 * the store rejects such a key, now and at the first write.
 */
export async function encrypted(inner: Store, masterKey: Buffer, mistake?: string): Promise<Store> {
  if (masterKey.length !== KEY_BYTES)
    throw new Error(`A master key has ${KEY_BYTES} bytes; this one has ${masterKey.length}`);
  const sealing = await createSealing(masterKey);
  if (mistake !== undefined && !(await isRightKey(inner, sealing))) throw new Error(mistake);
  return new EncryptedStore(inner, sealing, mistake);
}

async function isRightKey(inner: Store, sealing: Sealing): Promise<boolean> {
  const check = await inner.get(KEY_CHECK);
  if (check !== undefined) return canOpen(sealing, KEY_CHECK, check);
  const entries = (await inner.list()).filter(({ name }) => isSecretName(name)).slice(0, TRIED);
  for (const { name } of entries) if (await opens(inner, sealing, name)) return true;
  return entries.length === 0;
}

async function opens(inner: Store, sealing: Sealing, name: string): Promise<boolean> {
  try {
    const sealed = await inner.get(name);
    return sealed === undefined || canOpen(sealing, name, sealed);
  } catch {
    return false;
  }
}

function canOpen(sealing: Sealing, name: string, sealed: Buffer): boolean {
  try {
    sealing.open(name, sealed);
    return true;
  } catch {
    return false;
  }
}

class EncryptedStore implements Store {
  readonly #inner: Store;
  readonly #sealing: Sealing;
  readonly #mistake: string | undefined;
  #checked: Promise<unknown> | undefined;

  constructor(inner: Store, sealing: Sealing, mistake: string | undefined) {
    this.#inner = inner;
    this.#sealing = sealing;
    this.#mistake = mistake;
  }

  async get(name: string): Promise<Buffer | undefined> {
    const hidden = this.#hidden(name);
    const sealed = await this.#inner.get(hidden);
    return sealed && this.#open(hidden, sealed).value;
  }

  async set(name: string, value: Buffer): Promise<void> {
    const hidden = this.#hidden(name);
    await this.#checkKey();
    await this.#inner.set(hidden, this.#seal(hidden, { name, value }));
  }

  async update(name: string, change: ValueChange): Promise<Buffer | undefined> {
    const hidden = this.#hidden(name);
    await this.#checkKey();
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
    const entries = (await this.#inner.list()).filter(({ name }) => name !== KEY_CHECK);
    const opened = await Promise.all(entries.map((entry) => this.#tryToOpen(entry)));
    return opened.filter((entry) => entry !== undefined).filter(({ name }) => name.startsWith(prefix));
  }

  locate(name: string): string {
    return this.#inner.locate(this.#hidden(name));
  }

  /** Checks once, before the first write: a process with another key may have written since this store was opened. */
  async #checkKey(): Promise<void> {
    const mistake = this.#mistake;
    if (mistake === undefined) return;
    const check = (before: Buffer | undefined): Buffer | undefined => {
      if (before === undefined) return this.#sealing.seal(KEY_CHECK, CHECKED);
      if (!canOpen(this.#sealing, KEY_CHECK, before)) throw new Error(mistake);
      return undefined;
    };
    this.#checked ??= this.#inner.update(KEY_CHECK, check);
    try {
      await this.#checked;
    } catch (error) {
      this.#checked = undefined;
      throw error;
    }
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
