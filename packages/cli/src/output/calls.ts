import type { ToolInvocationRequest } from '@weir/gateway';
import type { Values } from '../values.ts';
import { clock, span } from './gateways.ts';
import { table, type Cell, type Looks } from './text-table.ts';

export type Call = ToolInvocationRequest;

/** Filter of `weir history`. */
type Filter = Pick<Values, 'failed' | 'server' | 'limit'>;

/** Calls to show if the command line sets no limit. */
const LIMIT = 100;

/** Widths of the columns where later rows are unknown. */
const WIDTHS = [19, 10, 16, 9, 6, 18];

/** Returns the calls to show, oldest first; of two records of a call the one with its end. */
export function selectCalls(calls: readonly Call[], filter: Filter): Call[] {
  const byId = new Map<string, Call>();
  for (const call of calls) if (isBetter(call, byId.get(call.id))) byId.set(call.id, call);
  return [...byId.values()]
    .filter((call) => isShown(call, filter))
    .toSorted((one, other) => one.submittedAt - other.submittedAt || numberOf(one) - numberOf(other))
    .slice(-(filter.limit ?? LIMIT));
}

/** Returns the number that the gateway gave the call, the last group of its id: it orders calls of the same millisecond. */
function numberOf({ id }: Call): number {
  return Number.parseInt(id.slice(id.lastIndexOf('-') + 1), 16);
}

function isBetter({ completedAt }: Call, other: Call | undefined): boolean {
  return other === undefined || (completedAt !== undefined && other.completedAt === undefined);
}

export function isShown({ serverId, status }: Call, { failed = false, server }: Filter): boolean {
  const hasFailed = status === 'error' || status === 'timeout';
  return (server === undefined || server === serverId) && (!failed || hasFailed);
}

export function showCalls(calls: readonly Call[], looks: Looks, isFollowed = false): string {
  const rows = [HEADING, ...calls.map(cellsOf)];
  return isFollowed ? aligned(rows, looks) : table(rows, looks);
}

/** Returns the row of one more call, aligned with the rows of `showCalls` for a followed history. */
export function showCall(call: Call, looks: Looks): string {
  return aligned([cellsOf(call)], looks);
}

function aligned(rows: readonly Cell[][], looks: Looks): string {
  const [, ...lines] = table([WIDTHS.map((width) => ' '.repeat(width)), ...rows], looks).split('\n');
  return lines.join('\n');
}

const HEADING: Cell[] = ['TIME', 'SERVER', 'TOOL', 'STATE', 'TOOK', 'CLIENT', ''];

function cellsOf(call: Call): Cell[] {
  const { submittedAt, startedAt = submittedAt, completedAt, error, status, retryAttempt } = call;
  const attempts = retryAttempt === 0 ? [] : [`attempt ${retryAttempt + 1}`];
  return [
    clock(submittedAt),
    call.serverId === '' ? '-' : call.serverId,
    call.toolName,
    statusCell(status),
    completedAt === undefined ? '' : span(completedAt - startedAt),
    clientOf(call),
    [...attempts, ...(error === undefined ? [] : [error.message])].join(', '),
  ];
}

/** Returns the client's name and version, else the kind of caller. */
function clientOf({ client, source }: Call): string {
  return client === undefined ? source : `${client.name} ${client.version}`.trimEnd();
}

function statusCell(status: Call['status']): Cell {
  if (status === 'success') return { text: status, paint: 'good' };
  if (status === 'error' || status === 'timeout') return { text: status, paint: 'bad' };
  return { text: status, paint: 'dim' };
}
