import { inspect } from 'node:util';

/**
 * Destination of messages for the server's operator. `createLogger` makes one; `console` is one, and so are the loggers of
 * pino and winston. On stdio it must not write to stdout, as `console.info` does.
 */
export interface Logger {
  debug(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}

/** Levels as `parseConfig` reads them; each includes those after it. */
const LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/**
 * Creates a logger that writes lines to a stream: `createLogger(process.stderr, config.logLevel)`. The level is `info` unless
 * set.
 */
export function createLogger(
  stream: { write(text: string): unknown },
  level: string = 'info',
  now: () => number = Date.now,
): Logger {
  const least = LEVELS.indexOf(level);
  if (least < 0) throw new RangeError(`The log level '${level}' is not one of ${LEVELS.join(', ')}`);
  const write =
    (name: string) =>
    (...parts: unknown[]): void => {
      if (LEVELS.indexOf(name) < least) return;
      stream.write(`${new Date(now()).toISOString()} ${name.padEnd(5)} ${oneRecord(parts)}\n`);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Indents further lines, so that no text can pass for a record, and drops what a terminal would obey. */
function oneRecord(parts: unknown[]): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : inspect(part, { depth: 5 })))
    .join(' ')
    .replaceAll(/\r?\n|\r/gu, '\n  ')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');
}
