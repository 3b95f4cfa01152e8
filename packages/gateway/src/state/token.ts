import { linkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_SECRET, readWhole } from '../read-file.ts';
import { makeFolder } from './make-folder.ts';
import { stateProblem } from './state-problem.ts';

export interface StateToken {
  readonly token: string;
  /** Why it holds for this run only, or what else its owner should know. */
  readonly warning?: string;
}

/** 32 random bytes. */
const BYTES = 32;
const SHAPE = /^[\w-]{20,}$/u;

/** The token that clients show, made at the first start and the same ever after. */
export async function stateToken(folder: string | undefined): Promise<StateToken> {
  const fresh = await createToken();
  const problem = folder === undefined ? 'there is no state folder' : stateProblem(folder);
  if (folder === undefined || problem !== undefined)
    return { token: fresh, warning: forThisRun(problem ?? '') };
  const file = join(folder, 'token');
  try {
    return read(file) ?? create(file, folder, fresh);
  } catch (error) {
    return { token: fresh, warning: forThisRun((error as Error).message) };
  }
}

/** Loaded only here: it would cost the command on stdio a part of its boot. */
async function createToken(): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  return randomBytes(BYTES).toString('base64url');
}

function read(file: string): StateToken | undefined {
  const text = readIfThere(file)?.trim();
  if (text === undefined) return undefined;
  if (!SHAPE.test(text)) throw new Error(`${file} holds no token; delete it, and a new one is made`);
  const isPrivate = process.platform === 'win32' || (statSync(file).mode & 0o077) === 0;
  return isPrivate ? { token: text } : { token: text, warning: `Others can read ${file}: chmod 600 it` };
}

function readIfThere(file: string): string | undefined {
  try {
    return readWhole(file, OWN_SECRET).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whoever comes first has made the token; linking a whole file shows no reader half of one. */
function create(file: string, folder: string, token: string): StateToken {
  makeFolder(folder);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${token}\n`, { mode: 0o600 });
  try {
    linkSync(fresh, file);
    return { token };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return read(file) ?? { token };
  } finally {
    rmSync(fresh, { force: true });
  }
}

function forThisRun(reason: string): string {
  return `The token is for this run only: ${reason}`;
}
