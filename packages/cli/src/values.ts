import { isAbsolute, join } from 'node:path';
import type { CliArgs } from '@weir/gateway';
import { UsageError } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that a command line can set; which of it a command requires, the command checks. */
export interface Values extends Partial<CliArgs> {
  /** The word beside the options, such as the server in `weir logs SERVER`. */
  argument?: string;
  /** Group of the config that the client sees. */
  group?: string;
  failFast?: boolean;
  demo?: boolean;
  host?: string;
  port?: number;
  /** False where clients need no token. */
  auth?: boolean;
  allowedHosts?: readonly string[];
  json?: boolean;
  /** Shows the token of gateways on HTTP. */
  token?: boolean;
  pid?: number;
  follow?: boolean;
  watch?: boolean;
  metricsPublic?: boolean;
  failed?: boolean;
  server?: string;
  limit?: number;
}

const DURATIONS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const SIZES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Milliseconds; Node fires a longer timer at once. */
const LONGEST_DURATION = 2 ** 31 - 1;

/** Returns milliseconds; a number without a unit is seconds. */
export function readDuration(text: string): number {
  const [, digits, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/u.exec(text) ?? [];
  const milliseconds = Number(digits) * (DURATIONS[unit] ?? Number.NaN);
  if (milliseconds > 0 && milliseconds <= LONGEST_DURATION) return milliseconds;
  throw new UsageError(`--startup-timeout takes a time such as 20s or 500ms, not '${text}'`);
}

/** Bytes; a part of a message may become a string, and Node has no longer ones. */
const LARGEST_SIZE = 512 * 1024 ** 2;

/** Returns bytes. */
export function readSize(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([KMG])?(?:i?B)?$/iu.exec(text) ?? [];
  const bytes = Number(digits) * (SIZES[unit.toUpperCase()] ?? Number.NaN);
  if (bytes > 0 && bytes <= LARGEST_SIZE) return bytes;
  throw new UsageError(`--max-message-size takes a size such as 64M, at most 512M, not '${text}'`);
}

/** Returns UTF-16 units; seven digits are more than any host passes on. */
export function readBudget(text: string): number {
  if (/^\d{1,7}$/u.test(text)) return Number(text);
  throw new UsageError(`--instructions-budget takes a number of characters such as 2000, not '${text}'`);
}

/** Returns the address without the brackets that it has in a URL. */
export function readHost(text: string): string {
  return text.replace(/^\[(.*)\]$/u, '$1');
}

/** Accepts only names that a Host header can hold, because no request would match another. */
export function readAllowedHost(text: string): string {
  if (/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(text)) return text;
  throw new UsageError(`--allowed-host takes a name with its port, such as tools.lan:8808, not '${text}'`);
}

export function readPort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port takes a number up to 65535 (0 picks a free port), not '${text}'`);
}

export function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,9}$/u.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number from 1 on, not '${text}'`);
}

/** Returns the state folder of the platform; ignores a relative path in its variables, as the XDG rules say. */
export function stateFolder(env: Environment): string | undefined {
  const { WEIR_STATE, XDG_STATE_HOME, HOME, LOCALAPPDATA } = env;
  if (WEIR_STATE) return WEIR_STATE;
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'weir');
  if (HOME && isAbsolute(HOME)) return join(HOME, '.local', 'state', 'weir');
  return LOCALAPPDATA ? join(LOCALAPPDATA, 'weir') : undefined;
}
