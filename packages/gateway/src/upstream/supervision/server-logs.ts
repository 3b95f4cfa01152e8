import type { Log } from '../../log.ts';
import { startOf } from '../../shorten.ts';

/** Something that a server wrote to stderr, or that was said of it. */
export interface LoggedLine {
  readonly at: number;
  readonly text: string;
}

/** Lines kept per server, and characters per line. */
const KEPT = 200;
const LONGEST = 1000;

/** The last lines about each server; they outlive its processes. */
export class ServerLogs {
  readonly #now: () => number;
  readonly #lines = new Map<string, LoggedLine[]>();
  readonly #repeats = new Map<string, Repeats>();
  /** Gets every new line. */
  onLine: ((serverKey: string, line: LoggedLine) => void) | undefined;
  /** Keys of the servers whose last start failed. */
  readonly failing: Set<string> = new Set();

  constructor(now: () => number) {
    this.#now = now;
  }

  of(serverKey: string): readonly LoggedLine[] {
    return (this.#lines.get(serverKey) ?? []).slice(-KEPT);
  }

  /** Returns the same log, of which the lines about this server are kept, and warnings are not repeated. */
  keeping(serverKey: string, log: Log): Log {
    const lines = this.#lines.get(serverKey) ?? [];
    const repeats = this.#repeats.get(serverKey) ?? new Repeats(this.#now);
    this.#lines.set(serverKey, lines);
    this.#repeats.set(serverKey, repeats);
    const kept = (write: (text: string) => void) => (text: string) => {
      this.#keep(serverKey, lines, text);
      write(text);
    };
    const warnOnce = (text: string): void => {
      const said = repeats.say(text);
      if (said === undefined) log.debug?.(text);
      else log.warn(said);
    };
    return {
      ...log,
      info: kept((text) => log.info(text)),
      warn: kept(warnOnce),
      error: kept((text) => log.error(text)),
    };
  }

  /** Trimmed now and then: cutting off the front is not for every line. */
  #keep(serverKey: string, lines: LoggedLine[], text: string): void {
    const line = { at: this.#now(), text: startOf(text, LONGEST) };
    lines.push(line);
    this.onLine?.(serverKey, line);
    if (lines.length >= 2 * KEPT) lines.splice(0, lines.length - KEPT);
  }
}

/** Holds a repeated text back for this long: one line in ten minutes shows that a fault lasts. */
const HELD_BACK_MS = 10 * 60_000;
/** Texts that are remembered; servers choose the words of some, so that their number needs a bound. */
const MOST_TEXTS = 100;
/** Characters by which a text is remembered. */
const LONGEST_KEY = 1000;

interface Said {
  readonly at: number;
  heldBack: number;
}

/** Holds back texts that were said a short time ago. */
export class Repeats {
  readonly #now: () => number;
  readonly #said = new Map<string, Said>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the text to say, with how often it was held back before; undefined where it is held back now. */
  say(text: string): string | undefined {
    const at = this.#now();
    const key = startOf(text, LONGEST_KEY);
    const last = this.#said.get(key);
    if (last !== undefined && at - last.at < HELD_BACK_MS) {
      last.heldBack++;
      return undefined;
    }
    this.#said.delete(key);
    const [oldest] = this.#said.keys();
    if (this.#said.size >= MOST_TEXTS && oldest !== undefined) this.#said.delete(oldest);
    this.#said.set(key, { at, heldBack: 0 });
    const { heldBack = 0 } = last ?? {};
    return heldBack === 0 ? text : `${text} (repeated ${heldBack} times before this)`;
  }
}
