import type { EncryptedStoreOptions } from './secrets-folder.ts';
import type { Store } from './store-contract.ts';

// Both load their parts only when they are called: most programs that load this package encrypt nothing.

/**
 * Opens the encrypted store in a folder. Its master key comes from the variable `WEIR_MASTER_KEY` (the keychain, where that
 * says `keychain`), else from the file that `WEIR_MASTER_KEY_FILE` names, else from the folder, which gets a new one at the
 * first use. With `name: 'my-notes'` the variables begin with `MY_NOTES_`. Rejects where the folder holds secrets and the key
 * is missing, or is not the one that they were encrypted with.
 */
export async function openEncryptedStore(options: EncryptedStoreOptions): Promise<Store> {
  const { openSecrets } = await import('./secrets-folder.ts');
  return openSecrets(options);
}

/** Creates a store that encrypts what another one keeps: names as well as values. The master key has 32 bytes. */
export async function createEncryptedStore(inner: Store, masterKey: Buffer): Promise<Store> {
  const { encrypted } = await import('./encrypted-store.ts');
  return encrypted(inner, masterKey);
}
