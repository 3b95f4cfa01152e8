import type { Group } from '../registry/group.ts';
import type { RegistryBuilder } from '../registry/registry-builder.ts';
import type { Registry } from '../registry/registry.ts';
import type { Instance } from '../upstream/pool/instances.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Caller } from './client-request.ts';
import type { History } from './history/history.ts';
import type { LogLevels } from './log-levels.ts';
import type { NameWarnings } from './name-warnings.ts';
import type { SuspendedCalls } from './questions/suspended-calls.ts';
import type { RestartWaiters } from './restart-waiters.ts';
import type { CallLimits } from './stages/limits/call-limits.ts';
import type { Tasks } from './tasks/tasks.ts';

/** One view of the gateway at one moment, which requests are resolved against. Each publication makes a new one. */
export interface GatewaySnapshot {
  readonly registry: Registry;
  /** The part of all servers that `registry` has; undefined where it has them all. */
  readonly group: Group | undefined;
  /** Names and URIs of all servers, also of those that do not run. */
  readonly builder: RegistryBuilder;
  /** The servers that are meant to run, whether or not they do. */
  readonly servers: ReadonlySet<string>;
  /** Undefined where nothing is limited. */
  readonly callLimits: CallLimits | undefined;
  readonly services: CallServices;
  /** Returns the newest snapshot of the same view: this one may be replaced while a call waits. */
  readonly current: () => GatewaySnapshot;
}

/** Services that calls use. They are the same for all views, as long as the gateway runs. */
export interface CallServices {
  readonly history: History;
  readonly tasks: Tasks;
  readonly suspendedCalls: SuspendedCalls;
  readonly restartWaiters: RestartWaiters;
  readonly logLevels: LogLevels;
  readonly nameWarnings: NameWarnings;
  /** Returns true where a request cannot use the shared connection to a server as it is, but needs `acquire`. */
  readonly needsAcquire: (upstream: Upstream, caller: Caller) => boolean;
  /** Returns the instance for this caller, and starts it where necessary. */
  readonly acquire: (upstream: Upstream, caller: Caller, folder?: string) => Promise<Instance>;
  /** Returns when a server that does not run is tried next, as the end of a sentence about it. */
  readonly retryHint: (serverKey: string) => string | undefined;
  /** Returns true while a server starts for the first time. */
  readonly isStarting: (serverKey: string) => boolean;
  /** Returns the name that stands before a server's questions to a person; undefined where the config has one server. */
  readonly askerOf: (serverKey: string) => string | undefined;
  /** Logs every call with its duration; undefined unless the log shows debug lines. */
  readonly trace?: ((text: string) => void) | undefined;
}
