import type { ServerConfig } from '../config/config.generated.ts';
import type { ServerClient } from './upstream.ts';

/** The states of one start: initializing → running → failed or stopped, or from initializing straight to either. */
export const ServerStatus = {
  INITIALIZING: 'initializing',
  RUNNING: 'running',
  FAILED: 'failed',
  STOPPED: 'stopped',
} as const;
export type ServerStatus = (typeof ServerStatus)[keyof typeof ServerStatus];

/** One start of a configured server. */
export interface ChildServerClient {
  readonly serverKey: string;
  readonly client: ServerClient;
  readonly config: ServerConfig;
  readonly status: ServerStatus;
  readonly error?: Error;
}
