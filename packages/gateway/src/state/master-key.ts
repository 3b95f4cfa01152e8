import { linkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { GIVEN_FILE, OWN_SECRET, readWhole, type ReadOptions } from '../read-file.ts';
import { makeFolder } from './make-folder.ts';
import { writeSafely } from './write-safely.ts';

export interface MasterKey {
  readonly bytes: Buffer;
  /** What its owner should know. */
  readonly warning?: string;
}

export interface MasterKeyOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where one is generated that nobody has given. */
  readonly folder: string;
}

const BYTES = 32;
const HOW_TO = 'it must be 32 bytes, in base64 or as 64 hex digits, as `openssl rand -base64 32` makes them';

/** What the state is encrypted with: from the environment, the keychain, or a file it names, else made here at the first use. */
export async function masterKey({ env, folder }: MasterKeyOptions): Promise<MasterKey> {
  const { WEIR_MASTER_KEY: text, WEIR_MASTER_KEY_FILE: file } = env;
  if (text === 'keychain') return readKeychain(env);
  if (text) return { bytes: parse(text, 'WEIR_MASTER_KEY') };
  if (file) return readNamed(file);
  const own = join(folder, 'master.key');
  try {
    return readFrom(own, OWN_SECRET);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return await generate(own, folder);
  }
}

/** Its value is never part of an error. */
function parse(text: string, where: string): Buffer {
  const trimmed = text.trim();
  const isHex = /^[0-9a-f]{64}$/iu.test(trimmed);
  const isBase64 = /^[\w+/-]{43}=?$/u.test(trimmed);
  if (!isHex && !isBase64) throw new Error(`${where} holds no master key: ${HOW_TO}`);
  return Buffer.from(trimmed, isHex ? 'hex' : 'base64');
}

/** Only where it is asked for: a keychain may be locked, and wait for a person. */
async function readKeychain(env: MasterKeyOptions['env']): Promise<MasterKey> {
  const { keychainText } = await import('./keychain.ts');
  return { bytes: parse(await keychainText({ env }), "The keychain's item weir/master-key") };
}

function readNamed(file: string): MasterKey {
  try {
    return readFrom(file, GIVEN_FILE);
  } catch (error) {
    throw new Error(`WEIR_MASTER_KEY_FILE is of no use: ${(error as Error).message}`, { cause: error });
  }
}

function readFrom(file: string, options: ReadOptions): MasterKey {
  const bytes = parse(readWhole(file, options).toString('utf8'), file);
  const isPrivate = process.platform === 'win32' || (statSync(file).mode & 0o077) === 0;
  return isPrivate ? { bytes } : { bytes, warning: `Others can read ${file}: chmod 600 it` };
}

/** Whoever comes first has made it; linking a whole file shows no reader half of one. */
async function generate(file: string, folder: string): Promise<MasterKey> {
  const { randomBytes } = await import('node:crypto');
  makeFolder(folder);
  const fresh = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await writeSafely(fresh, Buffer.from(`${randomBytes(BYTES).toString('base64')}\n`));
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readFrom(file, OWN_SECRET);
}
