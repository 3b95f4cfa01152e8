/**
 * Destination of messages for the server's operator. `console` is one; so are the loggers of pino and winston. On stdio it
 * must not write to stdout, as `console.info` does: pass `new Console(process.stderr)` there.
 */
export interface Logger {
  debug(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}
