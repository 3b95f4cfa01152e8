import { resolve } from 'node:path';
import {
  openControlSocket,
  gatewayFor,
  loadConfig,
  serveStdio,
  validateSeparator,
  type CliArgs,
} from '@weir/gateway';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { gatewayInfo, socketLocation } from '../gateway-info.ts';
import type { CliLog } from '../output/log.ts';
import { VERSION, type Program } from '../program.ts';
import { fingerprint } from '../reload/fingerprint.ts';
import { reloadOnChange } from '../reload/reload.ts';
import { withLog } from '../run.ts';
import { stateFolder, type Environment, type Values } from '../values.ts';

/** Options with their defaults filled in. */
export type StartArgs = Omit<Values, 'failFast'> & Required<Pick<CliArgs, 'name' | 'version'>>;
export type StdioArgs = StartArgs & Pick<CliArgs, 'configPath'>;

/** Serves one client on stdin and stdout until either of them closes. */
export async function stdio(values: Values, context: Context): Promise<void> {
  const args = stdioArgs(values, context.env, context.program);
  await withLog(args, (log) => serveClient(args, log, context));
}

export function stdioArgs(values: Values, env: Environment, program: Program): StdioArgs {
  const args = startArgs(values, env, program);
  const { configPath } = args;
  if (configPath === undefined)
    throw new UsageError('--config is missing: it names the file with your servers');
  return { ...args, configPath };
}

/** Checks the options that start a gateway, and fills in the defaults of the program and the state folder. */
export function startArgs(
  { failFast = false, ...values }: Values,
  env: Environment,
  program: Program,
): StartArgs {
  checkSeparator(values, program);
  if (failFast && values.keepGoing === true)
    throw new UsageError('--fail-fast and --keep-going exclude each other: choose one');
  const state = values.state ?? stateFolder(env);
  return {
    ...program.defaults,
    ...values,
    ...(failFast && { keepGoing: false }),
    ...(state !== undefined && { state }),
  };
}

function checkSeparator({ separator, noPrefix }: Values, { defaults }: Program): void {
  if (separator === undefined) return;
  try {
    validateSeparator(separator, defaults.separator);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
  if (noPrefix)
    throw new UsageError('--separator and --no-prefix exclude each other: plain names have no separator');
}

async function serveClient(
  args: StdioArgs,
  log: CliLog,
  { env, program, stopped, onHangUp }: Context,
): Promise<void> {
  const { configPath, group, name, version } = args;
  const known = fingerprint(configPath);
  // Errors name the absolute path, because users do not know in which folder a host starts its servers.
  const loaded = loadConfig(resolve(configPath), { env });
  const { path, warnings } = loaded;
  for (const warning of warnings) log.warn(warning);
  const gateway = gatewayFor(loaded, {
    ...args,
    commandName: program.name,
    keepResults: false,
    statusTool: program.statusTool,
    version: VERSION,
    env,
    log,
  });
  const control = openControlSocket(
    gateway,
    gatewayInfo({ mode: 'stdio', configPath: path, group }),
    socketLocation(args),
  );
  const serving = serveStdio(gateway, {
    input: process.stdin,
    output: process.stdout,
    group,
    serverInfo: { name, version },
    stopped: control.stopped,
  });
  if (process.stdin.isTTY) process.stderr.write(onTerminal(program));
  const reloading = reloadOnChange(gateway, { path, known, env, log, onHangUp });
  const stop = stopped();
  try {
    await Promise.race([serving, stop]);
  } finally {
    reloading.close();
    await Promise.all([gateway.close(), control.close()]);
  }
}

function onTerminal({ name }: Program): string {
  return `Serving MCP on stdin and stdout; usually an MCP host starts this command.
Press Ctrl-C to stop. ${name} --help lists commands and options.
`;
}
