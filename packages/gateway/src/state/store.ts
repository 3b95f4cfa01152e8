import { join } from 'node:path';
import type { Log } from '../log.ts';
import { openEncryptedDirectory } from './encrypted-directory.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { masterKey } from './master-key.ts';

export interface StoreOptions {
  /** The state folder. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** Opens what is kept in a state folder. */
export async function openStore({ folder, env, log }: StoreOptions): Promise<KeyValueStore> {
  const { bytes, warning } = await masterKey({ env, folder });
  if (warning !== undefined) log.warn(warning);
  return openEncryptedDirectory({
    folder: join(folder, 'records'),
    masterKey: bytes,
    onDamaged: ({ message }) => log.warn(message),
  });
}
