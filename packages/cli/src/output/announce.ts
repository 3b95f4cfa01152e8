import type { networkInterfaces } from 'node:os';
import type { HttpFront, ServerReport } from '@weir/gateway';
import type { Program } from '../program.ts';

/** Addresses of this machine, as the system lists them. */
export type Interfaces = ReturnType<typeof networkInterfaces>;

/** A gateway on HTTP. */
export interface Served {
  readonly url: string;
  readonly token: string | undefined;
  readonly program: Program;
}

/** Returns the first line of the output; programs read address and token from it. */
export function announcement({ url, token, program }: Served, count: number): string {
  const access = token === undefined ? 'no token needed (--no-auth)' : `token=${token}`;
  return `${program.name} starts ${counted(count, 'server')}, served at ${url}  ${access}\n`;
}

/** Summarises the servers once all of them were tried; empty for none. */
export function outcome(servers: readonly ServerReport[]): string {
  const count = servers.length;
  const all = (wanted: Fate): string[] =>
    servers.filter((server) => fateOf(server) === wanted).map(({ serverKey }) => serverKey);
  const [running, lazy, disabled, failed] = [all('running'), all('lazy'), all('disabled'), all('failed')];
  if (count === 0) return '';
  if (running.length === count)
    return count === 1 ? 'The server is running.\n' : `All ${count} servers are running.\n`;
  if (lazy.length === count)
    return count === 1
      ? 'The server starts at its first call.\n'
      : `All ${count} servers start at their first call.\n`;
  const others = [
    ...(lazy.length > 0 ? [`start at their first call: ${lazy.join(', ')}`] : []),
    ...(disabled.length > 0 ? [`disabled: ${disabled.join(', ')}`] : []),
    ...(failed.length > 0 ? [`failed and tried again: ${failed.join(', ')} (see the log)`] : []),
  ];
  const runs = `${running.length} of ${count} servers ${running.length === 1 ? 'is' : 'are'} running`;
  return `${[runs, ...others].join('; ')}\n`;
}

type Fate = 'running' | 'lazy' | 'disabled' | 'failed';

/** Counts a server that is connecting as failed, because its first attempt is over. */
function fateOf({ enabled, health: { connectionState } }: ServerReport): Fate {
  if (!enabled) return 'disabled';
  if (connectionState === 'connected') return 'running';
  return connectionState === 'disconnected' ? 'lazy' : 'failed';
}

/** Says what the shutdown waits for; empty for nothing. */
export function farewell({ awaited, drainTime }: Pick<HttpFront, 'awaited' | 'drainTime'>): string {
  if (awaited === 0) return '';
  const calls = counted(awaited, 'running call');
  return `Waiting up to ${drainTime / 1000} s for ${calls}. Press Ctrl-C again to stop at once.\n`;
}

/** Returns a URL that works from other machines if the gateway listens on all addresses. */
export function reachableUrl(url: string, interfaces: Interfaces): string {
  const { hostname, port, pathname } = new URL(url);
  if (!isEverywhere(hostname)) return url;
  const outside = Object.values(interfaces).flatMap((found) => found ?? []);
  const address = outside.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  return `http://${address ?? '127.0.0.1'}:${port || '80'}${pathname}`;
}

/** Says that other machines can connect, if they can. */
export function listeningNote(url: string): string {
  return isEverywhere(new URL(url).hostname) ? 'Listening on all addresses of this machine. ' : '';
}

export const UNENCRYPTED =
  'The token and all messages cross the network unencrypted: put a TLS proxy in front (--allowed-host takes its name), or listen on 127.0.0.1';

function isEverywhere(hostname: string): boolean {
  return hostname === '0.0.0.0' || hostname === '[::]';
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
