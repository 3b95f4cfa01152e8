import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import {
  openControlSocket,
  createGateway,
  gatewayFor,
  isLoopback,
  loadConfig,
  serveHttp,
  stateToken,
  type Gateway,
  type HttpFront,
  type HttpOptions,
  type LoadedConfig,
} from '@weir/gateway';
import { AddressError } from './address-error.ts';
import {
  announcement,
  farewell,
  IN_CLEAR,
  outcome,
  placeNote,
  reachableUrl,
  type Interfaces,
} from './announce.ts';
import type { ServeArgs } from './arguments.ts';
import { demoConfig, welcome } from './demo.ts';
import { fingerprint } from './fingerprint.ts';
import type { CliLog } from './log.ts';
import type { Program } from './program.ts';
import { reloadOnChange } from './reloading.ts';
import { placeOf, selfOf } from './self.ts';
import { VERSION } from './version.ts';

export interface ServeContext {
  readonly log: CliLog;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Writable;
  /** The folder that the command stands in. */
  readonly home: string;
  readonly serverInfo: HttpOptions['serverInfo'];
  readonly program: Program;
  /** Asked where others can reach this machine. */
  readonly interfaces: () => Interfaces;
  /** Settles when the command is to end. */
  readonly stopped: Promise<void>;
  /** Calls back whenever the config is to be read again. */
  onHangUp(reload: () => void): void;
}

/** Serves on HTTP until it is told to stop. */
export async function serveOnHttp(args: ServeArgs, context: ServeContext): Promise<void> {
  const { log, env, output, stopped, serverInfo, program } = context;
  const known = fingerprint(args.configPath ?? '');
  const loaded = readConfig(args, context);
  const token = args.auth ? await tokenOf(args, log) : undefined;
  const { configPath: _relative, ...others } = args;
  const { name: commandName, statusTool } = program;
  const options = { ...others, commandName, statusTool, keepResults: false, version: VERSION, env, log };
  const gateway =
    loaded === undefined ? createGateway(demoConfig(context.home), options) : gatewayFor(loaded, options);
  const front = await openFront(() => serveHttp(gateway, { ...args, serverInfo, token }), args);
  const url = reachableUrl(front.url, context.interfaces());
  if (!isLoopback(args.host)) log.warn(IN_CLEAR);
  const logPlace = log.isFile() ? (args.logFile ?? '') : 'stderr';
  output.write(announcement({ url, token, program }, gateway.serverCount));
  output.write(`${placeNote(front.url)}The log goes to ${logPlace}. Ctrl-C stops it.\n`);
  let isOver = false;
  void whenTried(gateway, () => {
    if (isOver) return;
    output.write(outcome(gateway.reports()));
    if (args.demo) output.write(welcome(gateway.registry, { url, token, program }));
  });
  const path = loaded?.path;
  const self = selfOf({ mode: 'http', configPath: path, url, token });
  const control = openControlSocket(gateway, self, placeOf(args, env));
  const reloading = path === undefined ? undefined : reloadOnChange(gateway, { ...context, path, known });
  try {
    await Promise.race([front.ended, stopped, control.stopped]);
    output.write(farewell(front));
  } finally {
    isOver = true;
    reloading?.close();
    await Promise.all([front.close(), control.close()]);
  }
}

/** Where the start fails, the front says so. */
function whenTried({ tried }: Gateway, tell: () => void): Promise<void> {
  return tried.then(tell, () => {});
}

/** Reads the config file; undefined where the demo is served. */
function readConfig({ configPath, demo }: ServeArgs, { log, env }: ServeContext): LoadedConfig | undefined {
  if (demo || configPath === undefined) return undefined;
  const loaded = loadConfig(resolve(configPath), { env });
  for (const warning of loaded.warnings) log.warn(warning);
  return loaded;
}

async function tokenOf({ state }: ServeArgs, log: CliLog): Promise<string> {
  const { token, warning } = await stateToken(state);
  if (warning !== undefined) log.warn(warning);
  return token;
}

async function openFront(open: () => Promise<HttpFront>, { host, port }: ServeArgs): Promise<HttpFront> {
  try {
    return await open();
  } catch (error) {
    throw new AddressError(whyNot(error as NodeJS.ErrnoException, host, port), { cause: error });
  }
}

function whyNot({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is taken. Choose another with --port, or 0 for any that is free.`;
  if (code === 'EACCES')
    return `Port ${port} is only for the system's own services. Choose one above 1023 with --port.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is no address of this machine. Choose another with --host.`;
  return `Cannot listen on ${host}, port ${port}: ${message}`;
}
