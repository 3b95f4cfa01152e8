import type { SocketLocation, GatewayInfo } from '@weir/gateway';
import { VERSION } from './version.ts';

/** What the gateway of this process says of itself. */
export function selfOf(known: Pick<GatewayInfo, 'mode' | 'configPath' | 'url' | 'token'>): GatewayInfo {
  return { pid: process.pid, version: VERSION, startedAt: Date.now(), ...known };
}

/** Where it can be spoken to. */
export function placeOf(
  { state }: { state?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): SocketLocation {
  return { env, state, platform: process.platform };
}
