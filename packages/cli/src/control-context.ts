import type { Writable } from 'node:stream';
import type { Looks } from './table.ts';

export interface ControlContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly output: Writable & { isTTY?: boolean; columns?: number };
  readonly now: () => number;
  /** Settles when nobody wants to hear more; where it is not asked for, Ctrl-C ends the command at once. */
  readonly stopped: () => Promise<void>;
}

/** How tables look there. */
export function looksOf({ output, env }: Pick<ControlContext, 'output' | 'env'>): Looks {
  if (output.isTTY !== true) return { isColoured: false };
  return { isColoured: !env['NO_COLOR'], width: output.columns };
}
