import { createLogger, type Logger } from '../logger.ts';

/** Creates the logger of a server that was given none: a factory that throws must not fail in silence. */
export function createStderrLogger(): Logger {
  return createLogger(process.stderr, 'warn');
}
