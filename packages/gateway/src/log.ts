/** Where the gateway says what it does. Texts hold no secret. */
export interface Log {
  /** Absent where nobody wants to know that much, so that nothing is put together in vain. */
  readonly debug?: ((text: string) => void) | undefined;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export const silentLog: Log = { info() {}, warn() {}, error() {} };

/** A log whose lines say whom they are about. */
export function prefixed(log: Log, prefix: string): Log {
  const { debug } = log;
  return {
    debug: debug && ((text) => debug(`[${prefix}] ${text}`)),
    info: (text) => log.info(`[${prefix}] ${text}`),
    warn: (text) => log.warn(`[${prefix}] ${text}`),
    error: (text) => log.error(`[${prefix}] ${text}`),
  };
}
