/** Parsed arguments of the command line. */
export interface CliArgs {
  configPath: string;
  debug?: boolean;
  logFile?: string;
  /** Name and version that clients get in the handshake. */
  name?: string;
  version?: string;
  separator?: string;
  noPrefix?: boolean;
  keepGoing?: boolean;
  /** Servers are started at their first call. */
  lazy?: boolean;
  /** The first list waits for the servers, whatever is remembered of them. */
  fresh?: boolean;
  /** Milliseconds. */
  startupTimeout?: number;
  /** Bytes. */
  maxMessageSize?: number;
  /** UTF-16 units of the merged instructions. */
  instructionsBudget?: number;
  /** Keeps the arguments of calls in the history, too. */
  history?: 'arguments';
  /** The folder for what is remembered from start to start. */
  state?: string;
}
