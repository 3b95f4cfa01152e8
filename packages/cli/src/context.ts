import type { Writable } from 'node:stream';
import type { Program } from './program.ts';
import type { Environment, Values } from './values.ts';

/** Parts of the process that commands use; tests pass their own. */
export interface Context {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly output: Writable & { isTTY?: boolean; columns?: number };
  readonly program: Program;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Settles when the command has to end. A command that never asks leaves Ctrl-C to Node. */
  readonly stopped: () => Promise<void>;
  /** Calls back whenever SIGHUP asks for a reload of the config. */
  readonly onHangUp: (reload: () => void) => void;
}

/** Runs one command. */
export type Run = (values: Values, context: Context) => Promise<void>;
