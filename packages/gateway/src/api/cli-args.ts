/** What the command line says. */
export interface CliArgs {
  configPath: string;
  debug?: boolean;
  logFile?: string;
  /** What clients are told as the server's name and version. */
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
