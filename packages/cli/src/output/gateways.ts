import type { GatewayReport, ReportedServer } from '@weir/gateway';
import type { Program } from '../program.ts';
import { printable, table, type Cell, type Looks } from './text-table.ts';

/** Look of the list, the current time and the name for hints. */
type View = Looks & { readonly now: number; readonly program: Program };

/** Lists each gateway with its servers. */
export function showGateways(reports: readonly GatewayReport[], view: View): string {
  return reports.map((report) => `${headline(report, view)}\n${servers(report, view)}`).join('\n');
}

function headline(report: GatewayReport, { now, program }: View): string {
  const { pid, mode, url, token, configPath, group, startedAt, isStopped, calls } = report;
  const parts = [
    `Gateway ${pid}`,
    url === undefined ? mode : `${mode} at ${printable(url)}`,
    ...(token === undefined ? [] : [`token=${printable(token)}`]),
    printable(configPath ?? 'no config file'),
    ...(group === undefined ? [] : [`group ${printable(group)}`]),
    `up ${span(now - startedAt)}`,
    `${calls.total} ${calls.total === 1 ? 'call' : 'calls'}, ${calls.active} running`,
  ];
  return [...parts, ...(isStopped ? [`calls are paused: ${program.name} resume`] : [])].join(', ');
}

function servers({ servers: all }: GatewayReport, view: View): string {
  if (all.length === 0) return '  (no servers)\n';
  const rows = all.map((server): Cell[] => [
    `  ${server.id}`,
    stateOf(server),
    String(server.tools),
    pingOf(server, view.now),
    noteOn(server, view),
  ]);
  return table([['  SERVER', 'STATE', 'TOOLS', 'PING', ''], ...rows], view);
}

/** Returns the latency and the age of the last probe; the gateway sends one every 30 s. */
function pingOf({ health }: ReportedServer, now: number): string {
  const { pingLatency, lastPingAt } = health ?? {};
  if (pingLatency === undefined || lastPingAt === undefined) return '';
  return `${Math.round(pingLatency)} ms, ${span(now - lastPingAt)} ago`;
}

function stateOf({ enabled, autoDisabled, health }: ReportedServer): Cell {
  if (health === undefined) return { text: 'off in config', paint: 'dim' };
  if (autoDisabled && health.retryState.isRetrying) return { text: 'unreachable', paint: 'bad' };
  if (autoDisabled) return { text: 'disabled, failed', paint: 'bad' };
  if (!enabled) return { text: 'disabled', paint: 'dim' };
  const { connectionState } = health;
  if (connectionState === 'connected') return { text: connectionState, paint: 'good' };
  if (connectionState === 'error') return { text: 'failed', paint: 'bad' };
  return connectionState === 'disconnected' ? 'not started' : connectionState;
}

function noteOn(server: ReportedServer, { now, program }: View): string {
  const { id, autoDisabled, enabled, health, lastError } = server;
  const { nextRetryAt } = health?.retryState ?? {};
  const [reason = ''] = (lastError ?? '').split('\n');
  if (nextRetryAt !== undefined)
    return sentences(`next try in ${span(Math.max(0, nextRetryAt - now))}`, reason);
  if (autoDisabled && health?.connectionState !== 'connecting')
    return sentences(`${program.name} enable ${id}`, reason);
  return (!enabled && !autoDisabled) || health?.connectionState === 'connected' ? '' : reason;
}

/** Joins the parts that there are: a gateway does not know the reason of a failure before its start. */
function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('; ');
}

/** Returns a duration in the unit that suits it. */
export function span(ms: number): string {
  // Negative if the clock was set back.
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 100_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 6_000_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}

/** Returns the local time, to the second. */
export function clock(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19).replace('T', ' ');
}
