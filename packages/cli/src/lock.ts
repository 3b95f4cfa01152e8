import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { ChildServerError, createLock, loadConfig, LOCK_FILE, type CliArgs } from '@weir/gateway';
import { LockFailure } from './lock-failure.ts';
import type { CliLog } from './log.ts';
import { npmPackage, npxFolders, type Command } from './npm-package.ts';
import { VERSION } from './version.ts';

export interface LockContext {
  readonly log: CliLog;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Writable;
  /** Settles when the command is to end. */
  readonly stopped: Promise<void>;
}

/** Writes down beside the config what its servers offer now. */
export async function writeLock(args: CliArgs, { log, env, output, stopped }: LockContext): Promise<void> {
  const { config, warnings, path, unexpanded } = loadConfig(resolve(args.configPath), { env });
  for (const warning of warnings) log.warn(warning);
  const { startupTimeout, maxMessageSize, state } = args;
  const folders = [dirname(path), ...npxFolders(env)];
  const text = await unlessStopped(
    stopped,
    createLock(config, {
      ...withoutUndefined({ startupTimeout, maxMessageSize, state }),
      configPath: path,
      unexpanded,
      version: VERSION,
      env,
      log,
      packageOf: (key) => npmPackage(unexpanded[key] as Command, folders),
    }).catch(asFailure),
  );
  const file = join(dirname(path), LOCK_FILE);
  replace(file, text);
  const count = Object.keys((JSON.parse(text) as { servers: object }).servers).length;
  output.write(`${file} holds what ${count === 1 ? 'the server offers' : `${count} servers offer`} now.\n`);
}

/** What a lock file leaves out would be started at every list: one server that does not start is the end of it. */
function asFailure(error: unknown): never {
  if (!(error instanceof ChildServerError)) throw error;
  const { message, serverKey } = error;
  throw new LockFailure(
    `${message}\nNothing was written. Mend '${serverKey}', or leave it out with "enabled": false in its entry.`,
    { cause: error },
  );
}

async function unlessStopped<T>(stopped: Promise<void>, work: Promise<T>): Promise<T> {
  const calledOff = stopped.then(() => {
    throw new LockFailure('Stopped; nothing was written.');
  });
  return Promise.race([work, calledOff]);
}

/** Readers see the old file or the new one. */
function replace(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, text);
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new LockFailure(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

function withoutUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
