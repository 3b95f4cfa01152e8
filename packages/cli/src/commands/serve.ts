import { realpathSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, resolve } from 'node:path';
import {
  openControlSocket,
  createGateway,
  DEFAULT_PORT,
  gatewayFor,
  isLoopback,
  loadConfig,
  serveHttp,
  stateToken,
  type Gateway,
  type HttpFront,
  type LoadedConfig,
} from '@weir/gateway';
import type { Context } from '../context.ts';
import { demoConfig, welcome } from '../demo.ts';
import { CliError, UsageError } from '../errors.ts';
import { gatewayInfo, socketLocation } from '../gateway-info.ts';
import {
  announcement,
  farewell,
  listeningNote,
  outcome,
  reachableUrl,
  UNENCRYPTED,
  type Interfaces,
} from '../output/announce.ts';
import type { CliLog } from '../output/log.ts';
import { VERSION, type Program } from '../program.ts';
import { fingerprint } from '../reload/fingerprint.ts';
import { reloadOnChange } from '../reload/reload.ts';
import { withLog } from '../run.ts';
import type { Environment, Values } from '../values.ts';
import { startArgs, type StartArgs } from './stdio.ts';

/** Options with their defaults; the demo has no config file. */
export interface ServeArgs extends Omit<StartArgs, 'configPath'> {
  configPath: string | undefined;
  demo: boolean;
  host: string;
  port: number;
  /** True if clients must send a token. */
  auth: boolean;
  allowedHosts: readonly string[];
}

/** Serves any number of clients over HTTP until a signal stops it. */
export async function serve(values: Values, context: Context): Promise<void> {
  const args = serveArgs(values, context.env, context.program);
  const home = dirname(realpathSync(process.argv[1] ?? '.'));
  const stopped = context.stopped();
  await withLog(args, (log) =>
    serveOnHttp(args, { ...context, log, home, interfaces: networkInterfaces, stopped: () => stopped }),
  );
}

export function serveArgs(values: Values, env: Environment, program: Program): ServeArgs {
  const args = startArgs(values, env, program);
  const { configPath, demo = false, host = '127.0.0.1', port = DEFAULT_PORT, auth = true } = args;
  if (configPath === undefined && !demo)
    throw new UsageError('--config is missing: it names the file with your servers (--demo brings some)');
  if (configPath !== undefined && demo)
    throw new UsageError('--config and --demo exclude each other: the demo brings its own servers');
  if (!auth && !isLoopback(host))
    throw new UsageError(
      `--no-auth works on this machine only: with --host ${host} others could call your servers`,
    );
  return { allowedHosts: [], ...args, configPath, demo, host, port, auth };
}

export interface ServeContext extends Context {
  readonly log: CliLog;
  /** Folder of the command. */
  readonly home: string;
  /** Returns the addresses of this machine. */
  readonly interfaces: () => Interfaces;
}

export async function serveOnHttp(args: ServeArgs, context: ServeContext): Promise<void> {
  const { log, env, output, program } = context;
  const known = fingerprint(args.configPath ?? '');
  const loaded = readConfig(args, context);
  const token = args.auth ? await tokenOf(args, context) : undefined;
  const { configPath: _relative, name, version, ...others } = args;
  const { name: commandName, statusTool } = program;
  const options = { ...others, commandName, statusTool, keepResults: false, version: VERSION, env, log };
  const gateway =
    loaded === undefined ? createGateway(demoConfig(context.home), options) : gatewayFor(loaded, options);
  const front = await listen(
    () => serveHttp(gateway, { ...args, serverInfo: { name, version }, token }),
    args,
  );
  const url = reachableUrl(front.url, context.interfaces());
  if (!isLoopback(args.host)) log.warn(UNENCRYPTED);
  const logPlace = log.isFile() ? (args.logFile ?? '') : 'stderr';
  output.write(announcement({ url, token, program }, gateway.children.size));
  output.write(`${listeningNote(front.url)}The log goes to ${logPlace}. Press Ctrl-C to stop.\n`);
  let isOver = false;
  void whenAllAttempted(gateway, () => {
    if (isOver) return;
    output.write(outcome(gateway.reports()));
    if (args.demo) output.write(welcome(gateway.registry, { url, token, program }));
  });
  const path = loaded?.path;
  const info = gatewayInfo({ mode: 'http', configPath: path, url, token });
  const control = openControlSocket(gateway, info, socketLocation(args, env));
  const reloading = path === undefined ? undefined : reloadOnChange(gateway, { ...context, path, known });
  try {
    await Promise.race([front.ended, context.stopped(), control.stopped]);
    output.write(farewell(front));
  } finally {
    isOver = true;
    reloading?.close();
    await Promise.all([front.close(), control.close()]);
  }
}

/** Calls back once every server was tried; a failed start is reported by `front.ended`. */
function whenAllAttempted({ allAttempted }: Gateway, tell: () => void): Promise<void> {
  return allAttempted.then(tell, () => {});
}

/** Reads the config file; the demo has none. */
function readConfig({ configPath, demo }: ServeArgs, { log, env }: ServeContext): LoadedConfig | undefined {
  if (demo || configPath === undefined) return undefined;
  const loaded = loadConfig(resolve(configPath), { env });
  for (const warning of loaded.warnings) log.warn(warning);
  return loaded;
}

async function tokenOf({ state }: ServeArgs, { log, env }: ServeContext): Promise<string> {
  const { token, warning } = await stateToken(state, env);
  if (warning !== undefined) log.warn(warning);
  return token;
}

async function listen(open: () => Promise<HttpFront>, { host, port }: ServeArgs): Promise<HttpFront> {
  try {
    return await open();
  } catch (error) {
    throw new CliError(whyNot(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
}

function whyNot({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use. Choose another with --port; 0 picks a free one.`;
  if (code === 'EACCES')
    return `Port ${port} is reserved for system services. Choose one above 1023 with --port.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is not an address of this machine. Choose another with --host.`;
  return `Cannot listen on ${host}, port ${port}: ${message}`;
}
