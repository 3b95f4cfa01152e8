import type { Place, Self } from '@weir/gateway';
import { VERSION } from './version.ts';

/** What the gateway of this process says of itself. */
export function selfOf(mode: Self['mode'], configPath: string | undefined): Self {
  return { pid: process.pid, version: VERSION, mode, configPath, startedAt: Date.now() };
}

/** Where it can be spoken to. */
export function placeOf(
  { state }: { state?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): Place {
  return { env, state, platform: process.platform };
}
