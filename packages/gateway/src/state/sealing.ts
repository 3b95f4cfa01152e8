/** Encrypts values and opens them again. */
export interface Sealing {
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
export async function createSealing(masterKey: Buffer): Promise<Sealing> {
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
        throw new Error('Weir has not written it, or it is cut short');
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
