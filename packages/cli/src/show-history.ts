import type { ToolInvocationRequest } from '@weir/gateway';
import type { Shown } from './control-arguments.ts';
import { clock, span } from './show-gateways.ts';
import { table, type Cell, type Looks } from './table.ts';

type Call = ToolInvocationRequest;

/** Columns that are lined up without knowing what is to come. */
const WIDTHS = [19, 10, 16, 9, 6, 18];

/** What was asked for of all that is known, oldest first; of two records of one call the later one counts. */
export function selectCalls(calls: readonly Call[], shown: Shown): Call[] {
  const byId = new Map<string, Call>();
  for (const call of calls) if (isBetter(call, byId.get(call.id))) byId.set(call.id, call);
  return [...byId.values()]
    .filter((call) => isShown(call, shown))
    .toSorted((one, other) => one.submittedAt - other.submittedAt || numberOf(one) - numberOf(other))
    .slice(-shown.limit);
}

/** Orders calls of one moment as their gateway has counted them: the last group of an id is a number. */
function numberOf({ id }: Call): number {
  return Number.parseInt(id.slice(id.lastIndexOf('-') + 1), 16);
}

function isBetter({ completedAt }: Call, other: Call | undefined): boolean {
  return other === undefined || (completedAt !== undefined && other.completedAt === undefined);
}

export function isShown({ serverId, status }: Call, { failed, server }: Shown): boolean {
  const hasFailed = status === 'error' || status === 'timeout';
  return (server === undefined || server === serverId) && (!failed || hasFailed);
}

export function showCalls(calls: readonly Call[], looks: Looks, isFollowed = false): string {
  const rows = [HEADING, ...calls.map(cellsOf)];
  return isFollowed ? linedUp(rows, looks) : table(rows, looks);
}

/** One more line beneath those that are there. */
export function showCall(call: Call, looks: Looks): string {
  return linedUp([cellsOf(call)], looks);
}

function linedUp(rows: readonly Cell[][], looks: Looks): string {
  const [, ...lines] = table([WIDTHS.map((width) => ' '.repeat(width)), ...rows], looks).split('\n');
  return lines.join('\n');
}

const HEADING: Cell[] = ['TIME', 'SERVER', 'TOOL', 'STATE', 'TOOK', 'ASKED BY', ''];

function cellsOf(call: Call): Cell[] {
  const { submittedAt, startedAt = submittedAt, completedAt, error, status, retryAttempt } = call;
  const attempts = retryAttempt === 0 ? [] : [`attempt ${retryAttempt + 1}`];
  return [
    clock(submittedAt),
    call.serverId === '' ? '-' : call.serverId,
    call.toolName,
    statusCell(status),
    completedAt === undefined ? '' : span(completedAt - startedAt),
    askedBy(call),
    [...attempts, ...(error === undefined ? [] : [error.message])].join(', '),
  ];
}

/** A client as it names itself, else what kind of caller it was. */
function askedBy({ client, source }: Call): string {
  return client === undefined ? source : `${client.name} ${client.version}`.trimEnd();
}

function statusCell(status: Call['status']): Cell {
  if (status === 'success') return { text: status, paint: 'good' };
  if (status === 'error' || status === 'timeout') return { text: status, paint: 'bad' };
  return { text: status, paint: 'dim' };
}
