import { ConfigError, describeConfigError, loadConfig, type Gateway } from '@weir/gateway';
import type { CliLog } from '../output/log.ts';
import type { Environment } from '../values.ts';
import { fingerprint, NO_FILE } from './fingerprint.ts';

/** Milliseconds between the start and the watch, so that the first answers come first. */
const AFTER_MS = 50;

export interface ReloadContext {
  readonly path: string;
  /** Fingerprint of the file before it was read. */
  readonly known: string;
  readonly env: Environment;
  readonly log: CliLog;
  /** Calls back at every SIGHUP. */
  onHangUp(reload: () => void): void;
}

/** Reads the config again at SIGHUP and, once the servers have started, whenever its file changes. */
export function reloadOnChange(gateway: Gateway, context: ReloadContext): { close(): void } {
  const reload = (): void => void readAgain(gateway, context);
  context.onHangUp(reload);
  let watched: { close(): void } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const watch = async (): Promise<void> => {
    const { watchFile } = await import('./watch-file.ts');
    const failed = (reason: string): void => context.log.warn(unwatched(reason));
    if (!isClosed) watched = watchFile(context.path, { known: context.known, changed: reload, failed });
  };
  gateway.ready.then(
    () => {
      if (!isClosed) timer = setTimeout(() => void watch(), AFTER_MS).unref();
    },
    () => {},
  );
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      watched?.close();
    },
  };
}

/** Applies the config; one with mistakes changes nothing. */
async function readAgain(gateway: Gateway, { path, env, log }: ReloadContext): Promise<void> {
  // Opening a pipe would block until a process writes to it.
  if (fingerprint(path) === NO_FILE) return log.error(readOnce(path));
  try {
    const { config, warnings, unexpanded } = loadConfig(path, { env });
    for (const warning of warnings) log.warn(warning);
    await gateway.reload(config, unexpanded);
  } catch (error) {
    if (!(error instanceof ConfigError)) return log.error((error as Error).message);
    log.error(
      describeConfigError(error, 'The changed config was not applied; the gateway keeps the previous one.'),
    );
  }
}

function readOnce(path: string): string {
  return `${path} is not a file, so Weir cannot read it again and keeps the config. Use a file for a config that changes.`;
}

function unwatched(reason: string): string {
  return `Cannot watch the config file (${reason}): after a change, send SIGHUP or restart`;
}
