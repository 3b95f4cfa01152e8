import { openEncryptedStore } from '@weir/server/store';
import type { Environment } from '../config/child-environment.ts';
import { stateProblem } from './state-problem.ts';

export interface StateToken {
  readonly token: string;
  /** The reason why the token holds for this run only, or a problem that the owner should solve. */
  readonly warning?: string;
}

const NAME = 'access-token';
const RANDOM_BYTES = 32;
const SHAPE = /^[\w-]{20,}$/u;

/** Returns the token that clients show. The first start makes it and keeps it encrypted; of two first starts one wins. */
export async function stateToken(folder: string | undefined, env: Environment = {}): Promise<StateToken> {
  const fresh = await createToken();
  const problem = folder === undefined ? 'there is no state folder' : stateProblem(folder);
  if (folder === undefined || problem !== undefined)
    return { token: fresh, warning: forThisRun(problem ?? '') };
  try {
    return await keep(fresh, folder, env);
  } catch (error) {
    return { token: fresh, warning: forThisRun((error as Error).message) };
  }
}

/** Loads its library here, because that would cost the command on stdio a part of its boot. */
async function createToken(): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

async function keep(fresh: string, folder: string, env: Environment): Promise<StateToken> {
  let warning: string | undefined;
  const logger = { warn: (text: string) => void (warning = text) };
  const secrets = await openEncryptedStore({ folder, env, logger });
  const kept =
    (await secrets.get(NAME)) ?? (await secrets.update(NAME, (before) => before ?? Buffer.from(fresh)));
  const token = kept?.toString('utf8') ?? '';
  if (!SHAPE.test(token))
    throw new Error(`${secrets.locate(NAME)} does not hold a token. Delete it to get a new one.`);
  return { token, ...(warning !== undefined && { warning }) };
}

function forThisRun(reason: string): string {
  return `The token is for this run only: ${reason}`;
}
