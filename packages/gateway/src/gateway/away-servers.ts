import { quoted, withoutTail } from '../errors.ts';
import { isAwaited, type Health } from '../upstream/supervision/health.ts';

/** A server that clients cannot use now, although neither the config nor the user has disabled it. */
export interface AwayServer {
  readonly serverKey: string;
  readonly health: Health;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Runs again, but was lost more than once a moment ago: it may be lost again. */
  readonly isUnsteady: boolean;
}

export interface AwayOptions {
  /** The servers of the config that are not switched off there, in its order. */
  keys(): Iterable<string>;
  healthOf(serverKey: string): Health | undefined;
  /** Something remembered is offered in place of the server. */
  hasLazyUpstream(serverKey: string): boolean;
  /** Says when a server is tried next. */
  retryHint(serverKey: string): string | undefined;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Returns true for a server that the reader may know of. */
type HasServer = (serverKey: string) => boolean;

/** UTF-16 units of the names in the notice: it must leave room for the instructions. */
const LONGEST_NAMES = 300;

/** Knows which servers are away, and since when. */
export class AwayServers {
  readonly #options: AwayOptions;
  readonly #since = new Map<string, number>();

  constructor(options: AwayOptions) {
    this.#options = options;
  }

  /** Returns the servers that are away, in the order of the config. Every change of a server calls it, so that it notes the time of a loss. */
  among(hasServer: HasServer): AwayServer[] {
    const away = [...this.#options.keys()].flatMap((serverKey) => this.#look(serverKey));
    const keys = new Set(away.map(({ serverKey }) => serverKey));
    for (const serverKey of this.#since.keys()) if (!keys.has(serverKey)) this.#since.delete(serverKey);
    return away.filter(({ serverKey }) => hasServer(serverKey));
  }

  /** The line for instructions; undefined while every server is there. */
  notice(toolName: string, hasServer: HasServer): string | undefined {
    const keys = this.among(hasServer).flatMap(({ serverKey, isUnsteady }) =>
      isUnsteady ? [] : [serverKey],
    );
    if (keys.length === 0) return undefined;
    return `Some servers of this gateway are not available: ${named(keys)}. The tool ${toolName} says why and what to do.`;
  }

  /** The text of the status tool. */
  describe(hasServer: HasServer): string {
    const away = this.among(hasServer);
    if (away.length === 0) return 'All servers are available.';
    return away.map((server) => this.#describe(server)).join('\n\n');
  }

  #look(serverKey: string): AwayServer[] {
    const health = this.#options.healthOf(serverKey);
    if (health === undefined || (!health.enabled && !health.autoDisabled)) return [];
    const isUnsteady = health.connectionState === 'connected';
    if (isUnsteady ? !(health.isRetrying && health.failureCount > 0) : !this.#isAway(serverKey, health))
      return [];
    const { autoDisabledAt = Infinity } = health;
    const since = Math.min(this.#since.get(serverKey) ?? this.#options.now(), autoDisabledAt);
    this.#since.set(serverKey, since);
    return [{ serverKey, health, since, isUnsteady }];
  }

  #isAway(serverKey: string, { connectionState, isRetrying, autoDisabled }: Health): boolean {
    if (connectionState === 'error' || autoDisabled || isRetrying) return true;
    return connectionState === 'connecting' && !this.#options.hasLazyUpstream(serverKey);
  }

  #describe({ serverKey, health, since, isUnsteady }: AwayServer): string {
    const { lastError, failureCount } = health;
    const seconds = Math.round((this.#options.now() - since) / 1000);
    const retryHint = this.#options.retryHint(serverKey);
    const lines = [
      isUnsteady
        ? `Server '${serverKey}' is running again, but failed ${failureCount + 1} times since ${timeOf(since)}.`
        : `Server '${serverKey}' has not been available since ${timeOf(since)} (${seconds} s).`,
      lastError === undefined ? '' : `Reason: ${withoutTail(lastError)}`,
      isUnsteady || retryHint === undefined ? '' : `Next: ${retryHint}.`,
      `What to do: ${remedy(serverKey, health, this.#options.commandName)}`,
    ];
    return lines.filter((line) => line !== '').join('\n');
  }
}

function remedy(serverKey: string, health: Health, commandName: string): string {
  const logs = `"${commandName} logs ${serverKey}" shows what it wrote`;
  // Why it was disabled is known to the gateway alone that has done so.
  const isOff = health.autoDisabled && !isAwaited(health);
  if (health.lastError === undefined && !isOff) return `wait until it has started; ${logs}.`;
  const enable = isOff ? `, then enable it with "${commandName} enable ${serverKey}"` : '';
  return `ask the user to check its entry in the config and that its command or address works; ${logs}${enable}.`;
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/u, 'Z');
}

/** As many names as there is room for, and how many more. */
function named(keys: readonly string[]): string {
  const names = keys.map((key) => `'${quoted(key)}'`);
  let count = 1;
  while (count < names.length && names.slice(0, count + 1).join(', ').length <= LONGEST_NAMES) count++;
  const more = names.length - count;
  const shown = names.slice(0, count).join(', ');
  return more === 0 ? shown : `${shown} and ${more} more`;
}
