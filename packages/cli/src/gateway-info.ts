import type { SocketLocation, GatewayInfo } from '@weir/gateway';
import { VERSION } from './program.ts';
import type { Environment } from './values.ts';

/** Returns what the gateway of this process reports about itself. */
export function gatewayInfo(
  known: Pick<GatewayInfo, 'mode' | 'configPath' | 'group' | 'url' | 'token'>,
): GatewayInfo {
  return { pid: process.pid, version: VERSION, startedAt: Date.now(), ...known };
}

/** Returns where its control socket is. */
export function socketLocation(
  { state }: { state?: string },
  env: Environment = process.env,
): SocketLocation {
  return { env, state, platform: process.platform };
}
