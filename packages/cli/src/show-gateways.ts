import type { GatewayReport, LoggedLine, ReportedServer } from '@weir/gateway';
import { PROGRAM } from './program.ts';
import { printable, table, type Cell, type Looks } from './table.ts';

/** Each gateway with its servers. */
export function showGateways(reports: readonly GatewayReport[], looks: Looks & { now: number }): string {
  return reports.map((report) => `${headline(report, looks.now)}\n${servers(report, looks)}`).join('\n');
}

function headline(report: GatewayReport, now: number): string {
  const { pid, mode, url, token, configPath, startedAt, isStopped, calls } = report;
  const parts = [
    `Gateway ${pid}`,
    url === undefined ? mode : `${mode} at ${printable(url)}`,
    ...(token === undefined ? [] : [`token=${printable(token)}`]),
    printable(configPath ?? 'no config file'),
    `up ${span(now - startedAt)}`,
    `${calls.total} ${calls.total === 1 ? 'call' : 'calls'}, ${calls.active} under way`,
  ];
  return [...parts, ...(isStopped ? [`calls are paused: ${PROGRAM.name} resume`] : [])].join(', ');
}

function servers({ servers: all }: GatewayReport, { now, ...looks }: Looks & { now: number }): string {
  if (all.length === 0) return '  (no servers)\n';
  const rows = all.map((server): Cell[] => [
    `  ${server.id}`,
    stateOf(server),
    String(server.tools),
    pingOf(server, now),
    noteOn(server, now),
  ]);
  return table([['  SERVER', 'STATE', 'TOOLS', 'PING', ''], ...rows], looks);
}

/** The latency of the last probe, and how long ago that was: a probe is sent every 30 s. */
function pingOf({ health }: ReportedServer, now: number): string {
  const { pingLatency, lastPingAt } = health ?? {};
  if (pingLatency === undefined || lastPingAt === undefined) return '';
  return `${Math.round(pingLatency)} ms, ${span(now - lastPingAt)} ago`;
}

function stateOf({ enabled, autoDisabled, health }: ReportedServer): Cell {
  if (health === undefined) return { text: 'off in the file', paint: 'dim' };
  if (autoDisabled && health.retryState.isRetrying) return { text: 'unreachable', paint: 'bad' };
  if (autoDisabled) return { text: 'disabled, failed', paint: 'bad' };
  if (!enabled) return { text: 'disabled', paint: 'dim' };
  const { connectionState } = health;
  if (connectionState === 'connected') return { text: connectionState, paint: 'good' };
  if (connectionState === 'error') return { text: 'lost', paint: 'bad' };
  return connectionState === 'disconnected' ? 'not started' : connectionState;
}

function noteOn({ id, autoDisabled, enabled, health, lastError }: ReportedServer, now: number): string {
  const { nextRetryAt } = health?.retryState ?? {};
  const [reason = ''] = (lastError ?? '').split('\n');
  if (nextRetryAt !== undefined)
    return sentences(`tried again in ${span(Math.max(0, nextRetryAt - now))}`, reason);
  if (autoDisabled && health?.connectionState !== 'connecting')
    return sentences(`${PROGRAM.name} enable ${id}`, reason);
  return (!enabled && !autoDisabled) || health?.connectionState === 'connected' ? '' : reason;
}

/** What a gateway has not seen itself, it cannot tell the reason of. */
function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('; ');
}

/** How long something took or takes, in the unit that says it best. */
export function span(ms: number): string {
  // A clock that was set back makes it less than nothing.
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 100_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 6_000_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`;
}

export function showLines(lines: readonly LoggedLine[]): string {
  return lines.map(({ at, text }) => `${clock(at)}  ${printable(text)}\n`).join('');
}

/** Local time, to the second. */
export function clock(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19).replace('T', ' ');
}
