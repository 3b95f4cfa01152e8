import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Name of the record that tells the right master key from others. The names of secrets are hashes, unlike it. */
export const KEY_CHECK = 'key-check';

/** Characters of a hidden name. */
const HASH_DIGITS = 64;

/** Returns where a state folder keeps its secrets. */
export function secretsIn(folder: string): string {
  return join(folder, 'secrets');
}

/** Tells names of secrets from those of other files in the folder. */
export function isSecretName(name: string): boolean {
  return name.length === HASH_DIGITS;
}

/** Throws where a state folder holds secrets: a new key would not open them. `missing` says which key is gone. */
export function refuseNewKey(folder: string, missing: string): void {
  const secrets = secretsIn(folder);
  const names = namesIn(secrets).filter((name) => isSecretName(name) || name === KEY_CHECK);
  if (names.length === 0) return;
  throw new Error(
    `${folder} holds secrets, but ${missing}. No new key is made, which could not open them: restore the old key, or delete ${secrets} to start over without its secrets.`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
