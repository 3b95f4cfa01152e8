import { shortened } from './shorten.ts';

/** Log of the gateway. Texts hold no secret. */
export interface Log {
  /** Absent unless debug lines are wanted, so that no text is built in vain. */
  readonly debug?: ((text: string) => void) | undefined;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** Characters of one text: ten lines of stderr of 8 KiB each, the most that any honest text holds. */
const LONGEST_TEXT = 96 * 1024;

export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** A log whose lines say whom they are about. */
export function prefixed(log: Log, prefix: string): Log {
  return mapped(log, (text) => `[${prefix}] ${text}`);
}

/** A log in which nothing that a server says can pass for a line of ours or play with a terminal. */
export function printable(log: Log): Log {
  return mapped(log, (text) => shortened(text, LONGEST_TEXT).split('\n').map(escapeUnsafe).join('\n  '));
}

/** Returns a log whose info lines go to debug while `isQuiet` returns true. */
export function quieted(log: Log, isQuiet: () => boolean): Log {
  return { ...log, info: (text) => (isQuiet() ? log.debug?.(text) : log.info(text)) };
}

function mapped(log: Log, map: (text: string) => string): Log {
  const { debug } = log;
  return {
    debug: debug && ((text) => debug(map(text))),
    info: (text) => log.info(map(text)),
    warn: (text) => log.warn(map(text)),
    error: (text) => log.error(map(text)),
  };
}

// Control characters other than tab, line separators, and marks that turn the direction of text. Written out: to know what
// has such a property the engine would load half a megabyte of tables.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNSAFE = /[\0-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Returns the text without the characters that `escapeUnsafe` escapes. */
export function withoutUnsafe(text: string): string {
  return text.replaceAll(UNSAFE, '');
}

/** One line of plain text, in which nothing moves a cursor, changes a colour or begins another line. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
