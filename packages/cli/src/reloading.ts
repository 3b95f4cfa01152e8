import { ConfigError, describeConfigError, loadConfig, type Gateway } from '@weir/gateway';
import { fingerprint, NO_FILE } from './fingerprint.ts';
import type { CliLog } from './log.ts';

/** The first answers go before. */
const AFTER_MS = 50;

export interface ReloadContext {
  readonly path: string;
  /** Of the file before it was read. */
  readonly known: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: CliLog;
  /** Calls back whenever somebody tells us to read the config again. */
  onHangUp(reload: () => void): void;
}

/** Reads the config again whenever its file changes, once the servers run, or SIGHUP comes. */
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
  gateway.settled.then(
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

/** A config that is wrong changes nothing. */
async function readAgain(gateway: Gateway, { path, env, log }: ReloadContext): Promise<void> {
  // To open a pipe would hold up everything until somebody writes to it.
  if (fingerprint(path) === NO_FILE) return log.error(readOnce(path));
  try {
    const { config, warnings, unexpanded } = loadConfig(path, { env });
    for (const warning of warnings) log.warn(warning);
    await gateway.reload(config, unexpanded);
  } catch (error) {
    if (!(error instanceof ConfigError)) return log.error((error as Error).message);
    log.error(
      describeConfigError(error, 'The config was read again because of a change; all goes on as before.'),
    );
  }
}

function readOnce(path: string): string {
  return `${path} is no file and is not read again; all goes on as before. A config that is to change must be in a file.`;
}

function unwatched(reason: string): string {
  return `The config file cannot be watched (${reason}): a change of it counts after SIGHUP or a new start`;
}
