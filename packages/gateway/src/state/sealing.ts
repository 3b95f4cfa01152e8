/** Encrypts records and opens them again. */
export interface Sealing {
  /** The name of a key's file; it tells nothing of the key. */
  nameOf(key: string): string;
  seal(name: string, plain: Buffer): Buffer;
  /** Throws where a byte has changed, the name is another's or the master key is. */
  open(name: string, sealed: Buffer): Buffer;
}

const MAGIC = Buffer.from('weir1\n');
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = MAGIC.length + NONCE_BYTES + TAG_BYTES;

/** AES-256-GCM. The library behind it costs a megabyte and milliseconds, and is loaded only here. */
export async function createSealing(masterKey: Buffer): Promise<Sealing> {
  const { createCipheriv, createDecipheriv, createHash, randomBytes } = await import('node:crypto');
  return {
    nameOf: (key) => createHash('sha256').update(key).digest('hex'),
    seal(name, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(bound(name));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), body]);
    },
    open(name, sealed) {
      if (sealed.length < HEAD_BYTES || !sealed.subarray(0, MAGIC.length).equals(MAGIC))
        throw new Error('is no record of ours, or only a part of one');
      const nonce = sealed.subarray(MAGIC.length, MAGIC.length + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG_BYTES })
        .setAAD(bound(name))
        .setAuthTag(sealed.subarray(MAGIC.length + NONCE_BYTES, HEAD_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
    },
  };
}

/** A record under the name of another is as wrong as a changed one. */
function bound(name: string): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(name)]);
}
