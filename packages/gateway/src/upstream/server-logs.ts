import type { Log } from '../log.ts';

/** Something that a server wrote to stderr, or that was said of it. */
export interface LoggedLine {
  readonly at: number;
  readonly text: string;
}

/** How much is kept of each server. */
const KEPT = 200;
const LONGEST = 1000;

/** The last lines about each server; they outlive its processes. */
export class ServerLogs {
  readonly #now: () => number;
  readonly #lines = new Map<string, LoggedLine[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  of(serverKey: string): readonly LoggedLine[] {
    return (this.#lines.get(serverKey) ?? []).slice(-KEPT);
  }

  /** The same log, of which the lines about this server are kept. */
  keeping(serverKey: string, log: Log): Log {
    const lines = this.#lines.get(serverKey) ?? [];
    this.#lines.set(serverKey, lines);
    const kept = (level: 'info' | 'warn' | 'error') => (text: string) => {
      this.#keep(lines, text);
      log[level](text);
    };
    return { ...log, info: kept('info'), warn: kept('warn'), error: kept('error') };
  }

  /** Trimmed now and then: cutting off the front is not for every line. */
  #keep(lines: LoggedLine[], text: string): void {
    lines.push({ at: this.#now(), text: text.slice(0, LONGEST) });
    if (lines.length >= 2 * KEPT) lines.splice(0, lines.length - KEPT);
  }
}
