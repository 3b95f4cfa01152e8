import type { networkInterfaces } from 'node:os';
import type { HttpFront, ServerReport } from '@weir/gateway';
import type { Program } from './program.ts';

/** The addresses that this machine has, as the system lists them. */
export type Interfaces = ReturnType<typeof networkInterfaces>;

/** Address of a gateway on HTTP, the token for it, and the command that serves it. */
export interface Served {
  readonly url: string;
  readonly token: string | undefined;
  readonly program: Program;
}

/** One line that a program can read as well. */
export function announcement({ url, token, program }: Served, count: number): string {
  const access = token === undefined ? 'no token needed (--no-auth)' : `token=${token}`;
  return `${program.name} starts ${counted(count, 'server')}, served at ${url}  ${access}\n`;
}

/** What became of the servers, once all that are to run have been tried; nothing is said of none. */
export function outcome(servers: readonly ServerReport[]): string {
  const count = servers.length;
  const all = (wanted: Fate): string[] =>
    servers.filter((server) => fateOf(server) === wanted).map(({ serverKey }) => serverKey);
  const [running, lazy, disabled, failed] = [all('runs'), all('sleeps'), all('is off'), all('failed')];
  if (count === 0) return '';
  if (running.length === count) return `${count === 1 ? 'The server runs' : `All ${count} servers run`}.\n`;
  if (lazy.length === count)
    return `${count === 1 ? 'The server starts when it is' : `All ${count} servers start when they are`} called.\n`;
  const others = [
    ...(lazy.length > 0 ? [`started when called: ${lazy.join(', ')}`] : []),
    ...(disabled.length > 0 ? [`disabled: ${disabled.join(', ')}`] : []),
    ...(failed.length > 0 ? [`failed and tried again: ${failed.join(', ')} (the log says why)`] : []),
  ];
  const runs = `${running.length} of ${count} servers ${running.length === 1 ? 'runs' : 'run'}`;
  return `${[runs, ...others].join('; ')}\n`;
}

type Fate = 'runs' | 'sleeps' | 'is off' | 'failed';

/** One that failed may be in the middle of its next attempt. */
function fateOf({ enabled, health: { connectionState } }: ServerReport): Fate {
  if (!enabled) return 'is off';
  if (connectionState === 'connected') return 'runs';
  return connectionState === 'disconnected' ? 'sleeps' : 'failed';
}

/** What keeps the end waiting, if anything does. */
export function farewell({ awaited, drainTime }: Pick<HttpFront, 'awaited' | 'drainTime'>): string {
  if (awaited === 0) return '';
  const calls = counted(awaited, 'call');
  return `Waiting up to ${drainTime / 1000} s for ${calls} under way. Ctrl-C again ends at once.\n`;
}

/** The URL under which others find what listens on all addresses at once. */
export function reachableUrl(url: string, interfaces: Interfaces): string {
  const { hostname, port, pathname } = new URL(url);
  if (!isEverywhere(hostname)) return url;
  const outside = Object.values(interfaces).flatMap((found) => found ?? []);
  const address = outside.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  return `http://${address ?? '127.0.0.1'}:${port || '80'}${pathname}`;
}

/** What is to be known of a place that others can reach, too. */
export function placeNote(url: string): string {
  return isEverywhere(new URL(url).hostname) ? 'It listens on all addresses of this machine. ' : '';
}

export const IN_CLEAR =
  'The token and all messages cross the network in clear: put a proxy with TLS in front (--allowed-host takes its name), or listen on 127.0.0.1';

function isEverywhere(hostname: string): boolean {
  return hostname === '0.0.0.0' || hostname === '[::]';
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
