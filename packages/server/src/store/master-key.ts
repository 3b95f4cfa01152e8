import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createFileStore } from './file-store.ts';
import { refuseNewKey } from './kept-secrets.ts';
import type { Environment } from './keychain.ts';
import { GIVEN_FILE, OWN_SECRET, readWhole, type ReadOptions } from './read-file.ts';

export interface MasterKey {
  readonly bytes: Buffer;
  /** The place that it comes from, for messages. */
  readonly source: string;
  /** A problem that the owner of the key should solve. */
  readonly warning?: string;
}

export interface MasterKeyOptions {
  readonly env: Environment;
  /** The state folder, which gets a new key where the environment names none. */
  readonly folder: string;
  /** Name of the program, which variables and the keychain's item bear; `weir` unless set. */
  readonly name?: string;
}

const BYTES = 32;
const FILE_NAME = 'master.key';
const HOW_TO = 'it needs 32 bytes, in base64 or as 64 hex digits. Make one with: openssl rand -base64 32';

/** Returns the key that encrypts secrets: from the environment, the keychain or the file that it names, else from the state folder. */
export async function masterKey({ env, folder, name = 'weir' }: MasterKeyOptions): Promise<MasterKey> {
  const variable = variableOf(name);
  const [text, file] = [env[variable], env[`${variable}_FILE`]];
  if (text === 'keychain') return readKeychain({ env, folder, name });
  if (text) return { bytes: parse(text, variable), source: variable };
  if (file) return readNamed(file, `${variable}_FILE`);
  const own = join(folder, FILE_NAME);
  try {
    return readFrom(own, OWN_SECRET);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return await generate(own, folder);
  }
}

/** Returns the variable that holds the key. A name stands in commands of the keychain, so that it has plain characters alone. */
function variableOf(name: string): string {
  if (!/^[a-z][a-z0-9-]{0,63}$/u.test(name))
    throw new Error(
      `The name ${JSON.stringify(name)} of a store is refused: use small letters, digits and hyphens, such as "my-notes"`,
    );
  return `${name.toUpperCase().replaceAll('-', '_')}_MASTER_KEY`;
}

/** Decodes a key. No error quotes it. */
function parse(text: string, where: string): Buffer {
  const trimmed = text.trim();
  const isHex = /^[0-9a-f]{64}$/iu.test(trimmed);
  const isBase64 = /^[\w+/-]{43}=?$/u.test(trimmed);
  if (!isHex && !isBase64) throw new Error(`${where} does not hold a master key: ${HOW_TO}`);
  return Buffer.from(trimmed, isHex ? 'hex' : 'base64');
}

/** Reads the keychain, which may be locked and wait for a person: only where the user has asked for that. */
async function readKeychain({ env, folder, name }: Required<MasterKeyOptions>): Promise<MasterKey> {
  const { keychainText } = await import('./keychain.ts');
  const item = `keychain's item ${name}/master-key`;
  const checkNew = (): void => refuseNewKey(folder, `the ${item} is missing`);
  const text = await keychainText({ env, name, variable: variableOf(name), checkNew });
  return { bytes: parse(text, `The ${item}`), source: `the ${item}` };
}

function readNamed(file: string, variable: string): MasterKey {
  try {
    return readFrom(file, GIVEN_FILE);
  } catch (error) {
    throw new Error(`${variable} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

function readFrom(file: string, options: ReadOptions): MasterKey {
  const bytes = parse(readWhole(file, options).toString('utf8'), file);
  const isPrivate = process.platform === 'win32' || (statSync(file).mode & 0o077) === 0;
  const key = { bytes, source: file };
  return isPrivate ? key : { ...key, warning: `Other users can read ${file}. Run: chmod 600 ${file}` };
}

/** Makes a key, unless another process was faster, or secrets show that there was one. */
async function generate(file: string, folder: string): Promise<MasterKey> {
  const { randomBytes } = await import('node:crypto');
  const fresh = Buffer.from(`${randomBytes(BYTES).toString('base64')}\n`);
  await createFileStore({ folder, isDurable: true }).update(FILE_NAME, (before) => {
    if (before !== undefined) return undefined;
    refuseNewKey(folder, `its master key ${file} is missing`);
    return fresh;
  });
  return readFrom(file, OWN_SECRET);
}
