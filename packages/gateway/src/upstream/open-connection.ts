import type { ServerConfig } from '../config/config.generated.ts';
import { ServerKind, serverKind } from '../config/server-kind.ts';
import type { Log } from '../log.ts';
import type { Connection, ConnectionOptions, Stoppable } from './connection.ts';
import { ProcessConnection } from './process/process-connection.ts';
import { spawnServer } from './process/spawn.ts';
import type { ServerSpec } from './process/start-process.ts';
import { startInTurn } from './process/start-slots.ts';
import type { ServerContext } from './server-context.ts';

export interface OpenOptions extends ConnectionOptions {
  readonly config: ServerConfig;
  readonly context: ServerContext;
  /** True where the working directory is the client's, not that of the config. */
  readonly isClientFolder: boolean | undefined;
  /** Milliseconds that a server on HTTP may take to listen. */
  readonly patienceMs: number;
  isStopped(): boolean;
  /** Hears of a container as soon as it may have to be stopped. */
  arriving(container: Stoppable): void;
}

/** Starts a server, or connects to it. */
export function openConnection(options: OpenOptions): Promise<Connection> {
  const kind = serverKind(options.config);
  if (kind === ServerKind.COMMAND) return spawn(options);
  return kind === ServerKind.REMOTE ? reach(options) : contain(options);
}

async function spawn(options: OpenOptions): Promise<Connection> {
  const { config, context, log, isClientFolder } = options;
  const { guard, slots, environmentOf } = context;
  const { command = '', args = [], cwd } = config;
  const spec = { command, args, env: environmentOf(config), cwd, isClientFolder };
  const process = await startInTurn(slots, () => {
    if (options.isStopped()) throw new Error('was stopped before its turn came');
    return spawnServer(spec, { guard: guard(), onStderrLine: (line) => log.info(line) });
  });
  log.debug?.(`started as process ${process.pid}`);
  setTimeout(() => void warnOfOpenPlace(spec, log), CHECK_PLACE_MS).unref();
  return new ProcessConnection(process, options);
}

/** After the first lists: they do not wait for a look at every folder above the command. */
const CHECK_PLACE_MS = 5000;

async function warnOfOpenPlace(spec: ServerSpec, log: Log): Promise<void> {
  const { openPlace } = await import('./open-place.ts');
  const place = openPlace(spec);
  if (place === undefined) return;
  log.warn(
    `every user of this machine can write to ${place}, from which it is started. Run: chmod o-w ${place}`,
  );
}

/** Loads the code for remote servers: most gateways have none. */
async function reach(options: OpenOptions): Promise<Connection> {
  const { reachServer } = await import('./remote/remote-connection.ts');
  const { clientInfo, chain } = options.context;
  return reachServer({ ...options, clientInfo, chain });
}

async function contain(options: OpenOptions): Promise<Connection> {
  const { chain, clientInfo, environmentOf, guard, slots } = options.context;
  const [{ startContainer }, containers] = await Promise.all([
    import('./container/start-container.ts'),
    options.context.containers(),
  ]);
  if (options.isStopped()) throw new Error('was stopped before it was started');
  const container = startContainer({
    ...options,
    chain,
    clientInfo,
    containers,
    environmentOf,
    guard,
    slots,
  });
  options.arriving(container);
  return container.connection;
}
