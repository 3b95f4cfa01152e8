import type { Writable } from 'node:stream';

export interface ControlContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly output: Writable & { isTTY?: boolean };
  readonly now: () => number;
  /** Settles when nobody wants to hear more. */
  readonly stopped: Promise<void>;
}

export function isColoured(
  output: { isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return output.isTTY === true && !env['NO_COLOR'];
}
