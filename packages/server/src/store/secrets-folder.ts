import type { Logger } from '../logger.ts';
import { createFileStore } from './file-store.ts';
import { folderProblem } from './folder-problem.ts';
import { secretsIn } from './kept-secrets.ts';
import { masterKey, type MasterKeyOptions } from './master-key.ts';
import type { Store } from './store-contract.ts';

export interface EncryptedStoreOptions extends MasterKeyOptions {
  /** Hears of problems that the owner of the master key should solve. */
  readonly logger?: Pick<Logger, 'warn'>;
}

const REMEDIES = { another: 'Name another folder.', within: 'name another folder.' };

/** Opens the secrets of a folder, as `openEncryptedStore` says. */
export async function openSecrets(options: EncryptedStoreOptions): Promise<Store> {
  const { folder, logger } = options;
  const problem = folderProblem(folder, REMEDIES);
  if (problem !== undefined) throw new Error(`The folder ${folder} is not used: ${problem}`);
  const { bytes, source, warning } = await masterKey(options);
  if (warning !== undefined) logger?.warn(warning);
  const { encrypted } = await import('./encrypted-store.ts');
  const secrets = secretsIn(folder);
  const mistake = `The master key of ${source} is not the one that the secrets in ${secrets} were encrypted with: provide that key, or delete ${secrets} to start over without its secrets.`;
  return encrypted(createFileStore({ folder: secrets, isDurable: true }), bytes, mistake);
}
