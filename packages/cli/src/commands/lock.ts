import { dirname, join, resolve } from 'node:path';
import { ChildServerError, createLock, loadConfig, LOCK_FILE } from '@weir/gateway';
import type { Context } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { npmPackage, npxFolders, type PackageCommand } from '../npm-package.ts';
import type { CliLog } from '../output/log.ts';
import { VERSION } from '../program.ts';
import { replaceFile } from '../replace-file.ts';
import { withLog } from '../run.ts';
import { stateFolder, type Values } from '../values.ts';

/** Writes what the servers of a config offer to the lock file beside it. */
export async function lock(values: Values, context: Context): Promise<void> {
  const { configPath } = values;
  if (configPath === undefined)
    throw new UsageError('--config is missing: it names the file with your servers');
  const stopped = context.stopped();
  await withLog(values, (log) => writeLock(configPath, values, { ...context, log, stopped: () => stopped }));
}

async function writeLock(
  configPath: string,
  { startupTimeout, maxMessageSize, ...values }: Values,
  { log, env, output, stopped }: Context & { log: CliLog },
): Promise<void> {
  const { config, warnings, path, unexpanded } = loadConfig(resolve(configPath), { env });
  for (const warning of warnings) log.warn(warning);
  const state = values.state ?? stateFolder(env);
  const folders = [dirname(path), ...npxFolders(env)];
  const text = await unlessStopped(
    stopped(),
    createLock(config, {
      ...withoutUndefined({ startupTimeout, maxMessageSize, state }),
      configPath: path,
      unexpanded,
      version: VERSION,
      env,
      log,
      packageOf: (key) => npmPackage(unexpanded[key] as PackageCommand, folders),
    }).catch(explain),
  );
  const file = join(dirname(path), LOCK_FILE);
  replaceFile(file, text);
  const count = Object.keys((JSON.parse(text) as { servers: object }).servers).length;
  output.write(`Wrote ${count} ${count === 1 ? 'server' : 'servers'} to ${file}\n`);
}

/** Fails if any server does not start, because every list would start a server that the lock file lacks. */
function explain(error: unknown): never {
  if (!(error instanceof ChildServerError)) throw error;
  const { message, serverKey } = error;
  throw new CliError(
    `${message}\nNothing was written. Fix '${serverKey}', or leave it out: set "enabled": false in its entry.`,
    { cause: error },
  );
}

async function unlessStopped<T>(stopped: Promise<void>, work: Promise<T>): Promise<T> {
  const interrupted = stopped.then(() => {
    throw new CliError('Stopped; nothing was written.');
  });
  return Promise.race([work, interrupted]);
}

function withoutUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
