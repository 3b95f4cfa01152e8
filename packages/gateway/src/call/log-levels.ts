import { Meta } from '../protocol/eras.ts';
import { Method } from '../protocol/methods.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { stringValue } from '../wire/json/members.ts';
import { encode } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';

/** From the most verbose on. */
export const LOG_LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** Returns the log level that a modern request asks for; undefined where the level is missing or unknown. */
export function levelAskedBy({ meta }: Message): string | undefined {
  const level = meta && stringValue(meta, Meta.LOG_LEVEL);
  return level !== undefined && LOG_LEVELS.includes(level) ? level : undefined;
}

/** Returns true where a message of this level reaches the level asked for, or no level was asked for. */
export function isWanted(level: string | undefined, asked: string | undefined): boolean {
  if (asked === undefined || level === undefined) return true;
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(asked);
}

/** Sets the log level of legacy servers; modern servers get it with each request. */
export class LogLevels {
  readonly #told = new WeakMap<object, string>();

  tell({ era, capabilities, peer }: Upstream, level: string): void {
    if (era === 'modern' || capabilities['logging'] === undefined || this.#told.get(peer) === level) return;
    this.#told.set(peer, level);
    peer.request(Method.SET_LOG_LEVEL, encode({ level })).catch(() => {});
  }

  /** A modern request may want to hear this much: the server is told to log more, never less. */
  askedBy(message: Message, upstream: Upstream): void {
    const level = levelAskedBy(message);
    const told = this.#told.get(upstream.peer);
    if (level !== undefined && (told === undefined || !isWanted(level, told))) this.tell(upstream, level);
  }
}
