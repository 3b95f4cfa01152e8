import { executionTracker } from '../api/execution-tracker.ts';
import { serverConfigs, type MCPServerConfig } from '../api/server-config.ts';
import type { ToolInvocationRequest } from '../call/history/invocation.ts';
import type { GatewayEvent } from '../gateway/events.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ServerHealthStatus } from '../upstream/supervision/health.ts';
import type { LoggedLine } from '../upstream/supervision/server-logs.ts';

/** State of a gateway, as `ps` returns it. */
export interface GatewayReport {
  readonly pid: number;
  readonly version: string;
  readonly mode: 'stdio' | 'http';
  /** Address of a gateway on HTTP. */
  readonly url?: string | undefined;
  /** Bearer token of a gateway on HTTP, only where the request asks for it. */
  readonly token?: string | undefined;
  readonly configPath?: string | undefined;
  /** Group of a gateway on stdio that serves one. */
  readonly group?: string | undefined;
  /** Keys of the servers in the config that this group does not contain. */
  readonly outside?: readonly string[];
  readonly startedAt: number;
  /** True while the user has paused its calls. */
  readonly isStopped: boolean;
  readonly calls: { readonly active: number; readonly total: number };
  readonly servers: readonly ReportedServer[];
}

export interface ReportedServer extends MCPServerConfig {
  /** Number of its callable tools, also where a call would start the server. */
  readonly tools: number;
  /** Absent where the config leaves the server out. */
  readonly health?: ServerHealthStatus;
  /** Why it was lost the last time. */
  readonly lastError?: string;
}

/** The part of the report that does not change while the gateway runs. */
export type GatewayInfo = Pick<
  GatewayReport,
  'pid' | 'version' | 'mode' | 'url' | 'token' | 'configPath' | 'group' | 'startedAt'
>;

/** A gateway that answers its owner. */
export interface Answering {
  readonly gateway: Gateway;
  readonly info: GatewayInfo;
  /** Lets the gateway end, once its calls in flight have. */
  readonly end: () => void;
}

/** Parameters and result of each request on the control socket. */
export interface ControlRequests {
  ps: { params: { token?: boolean; follow?: boolean }; result: GatewayReport };
  enable: { params: { server: string }; result: null };
  disable: { params: { server: string }; result: null };
  restart: { params: { server: string }; result: null };
  logs: { params: { server: string; follow?: boolean }; result: readonly LoggedLine[] };
  history: { params: { follow?: boolean }; result: readonly ToolInvocationRequest[] };
  pause: { params: object; result: null };
  resume: { params: object; result: null };
  /** Not called `stop`, which older gateways take for `pause`. */
  shutdown: { params: object; result: null };
}
export type ControlMethod = keyof ControlRequests;

/** Requests that can be followed: events come after the answer, one line each. */
export type FollowedMethod = 'ps' | 'logs' | 'history';

/** The events for the followers of each; a call changes only counters of `ps`, which are read again every second. */
export const FOLLOWED: Readonly<Record<FollowedMethod, readonly GatewayEvent['type'][]>> = {
  ps: [
    'server-connecting',
    'server-connected',
    'server-settled',
    'server-lost',
    'server-enabled',
    'server-disabled',
    'server-auto-disabled',
    'server-stopped',
    'lists-changed',
    'config-reloaded',
  ],
  logs: ['server-log'],
  history: ['call-ended'],
};

type Answers = {
  readonly [M in ControlMethod]: (
    params: ControlRequests[M]['params'],
  ) => ControlRequests[M]['result'] | Promise<ControlRequests[M]['result']>;
};

export function answersOf({ gateway, info, end }: Answering): Answers {
  const { token: _secret, ...open } = info;
  const logged = (text: string, act: void): Promise<null> => {
    gateway.log.info(`${text} (requested through the control socket)`);
    return done(act);
  };
  return {
    ps: ({ token = false }) => report(gateway, token ? info : open),
    enable: ({ server }) => done(gateway.enable(server)),
    disable: ({ server }) => done(gateway.disable(server)),
    restart: ({ server }) => done(gateway.restart(server)),
    logs: ({ server }) => logs(gateway, server),
    history: () => gateway.history.recent({ withContent: false }),
    pause: () => logged('Calls are paused', gateway.stopCalls()),
    resume: () => logged('Calls are resumed', gateway.resumeCalls()),
    // The answer leaves first.
    shutdown: () => logged('The gateway is stopping', void setImmediate(end)),
  };
}

async function done(act: Promise<void> | void): Promise<null> {
  await act;
  return null;
}

function report(gateway: Gateway, info: GatewayInfo): GatewayReport {
  const reports = new Map(gateway.reports().map((server) => [server.serverKey, server]));
  const routes = [...gateway.registry.values()];
  const configured = serverConfigs(gateway);
  const outside = configured.map(({ id }) => id).filter((id) => gateway.isOutside(id));
  const inside = configured.filter(({ id }) => !gateway.isOutside(id));
  const servers = inside.map((server): ReportedServer => {
    const { health, lastError } = reports.get(server.id) ?? {};
    return {
      ...server,
      tools: routes.filter(({ serverKey }) => serverKey === server.id).length,
      ...(health !== undefined && { health }),
      ...(lastError !== undefined && { lastError }),
    };
  });
  const { activeExecutions, totalExecuted, stopped } = executionTracker(gateway);
  const calls = { active: activeExecutions.size, total: totalExecuted };
  return { ...info, ...(outside.length > 0 && { outside }), isStopped: stopped, calls, servers };
}

function logs(gateway: Gateway, server: string): readonly LoggedLine[] {
  const lines = gateway.logsOf(server);
  if (lines !== undefined) return lines;
  const known = [...gateway.children.keys()].join(', ');
  throw new Error(`No server '${server}' in this gateway. Known servers: ${known}.`);
}
