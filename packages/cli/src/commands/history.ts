import { askGateway, findGateways, followGateway, readHistory, type FoundGateway } from '@weir/gateway';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import {
  chosenGateways,
  doesNotAnswer,
  gatewaysWith,
  runningGateways,
  silentAmong,
  socketsFor,
} from '../find-gateways.ts';
import { isShown, selectCalls, showCall, showCalls, type Call } from '../output/calls.ts';
import { looksOf } from '../output/text-table.ts';
import type { Values } from '../values.ts';

/** Milliseconds after which `--follow` notices a new gateway. */
const LOOK_AGAIN_MS = 1000;

/** Lists recent calls: those in the state folder and those that running gateways remember. */
export async function history(values: Values, context: Context): Promise<void> {
  if (values.follow) await followHistory(await runningGateways(values, context), values, context);
  else await showHistory(await chosenGateways(values, context), values, context);
}

export async function showHistory(
  found: readonly FoundGateway[],
  values: Values,
  context: Context,
): Promise<Call[]> {
  const { state } = socketsFor(values, context);
  const stored = isChosen(values) || state === undefined ? [] : readHistory(state).filter(isCall);
  const silent = silentAmong(found);
  if (isChosen(values) && silent.length > 0) throw new CliError(doesNotAnswer(silent[0]));
  const answering = found.filter(({ report }) => report !== undefined);
  const recent = await Promise.all(
    answering.map(({ socketPath }) => askGateway(socketPath, 'history', {}).catch(() => [])),
  );
  if (found.length === 0 && stored.length === 0) throw new CliError(noHistory(values));
  const known = [...stored, ...recent.flat()];
  checkServer(known, answering, values);
  const calls = selectCalls(known, values);
  context.output.write(values.json ? jsonLines(calls) : shownCalls(calls, values, context));
  return calls;
}

/** Throws where neither a call nor a running gateway has the server of the filter. */
function checkServer(calls: readonly Call[], found: readonly FoundGateway[], { server }: Values): void {
  if (server === undefined || found.length === 0) return;
  if (!calls.some(({ serverId }) => serverId === server)) gatewaysWith(server, found);
}

/** Prints the heading also without calls if further ones follow. */
function shownCalls(calls: readonly Call[], values: Values, context: Context): string {
  const { follow = false, failed, server } = values;
  if (calls.length > 0 || follow) return showCalls(calls, looksOf(context), follow);
  return failed || server !== undefined ? 'No matching calls.\n' : 'No calls yet.\n';
}

/** Prints the history, then each call when it ends, also those of gateways that start later. */
export async function followHistory(
  found: readonly FoundGateway[],
  values: Values,
  context: Context,
): Promise<void> {
  const since = context.now();
  const ended = (await showHistory(found, values, context)).filter(
    ({ completedAt }) => completedAt !== undefined,
  );
  const shown = new Set(ended.map(({ id }) => id));
  const followed = new Set<string>();
  const follow = ({ socketPath }: FoundGateway): void => {
    if (followed.has(socketPath.path)) return;
    followed.add(socketPath.path);
    const gone = followGateway(
      socketPath,
      'history',
      {},
      {
        answered(calls) {
          const fresh = calls.filter(({ id, completedAt = -1 }) => completedAt >= since && !shown.has(id));
          fresh.forEach((call) => print(call, values, context));
        },
        // A call that ends from now on is new, also if the clock was set back.
        happened(event) {
          if (event.type === 'call-ended' && !shown.has(event.call.id)) print(event.call, values, context);
        },
      },
    );
    void gone.catch(() => {}).then(() => followed.delete(socketPath.path));
  };
  found.forEach(follow);
  const sockets = socketsFor(values, context);
  const timer = isChosen(values)
    ? undefined
    : setInterval(() => void findGateways(sockets).then((all) => all.forEach(follow)), LOOK_AGAIN_MS);
  await context.stopped();
  clearInterval(timer);
}

function print(call: Call, values: Values, context: Context): void {
  if (isShown(call, values))
    context.output.write(values.json ? jsonLines([call]) : showCall(call, looksOf(context)));
}

function noHistory(values: Values): string {
  return isChosen(values)
    ? 'No such gateway is running. Without --config and --pid the history includes gateways that have stopped.'
    : 'No history: no gateway is running, and the state folder holds no calls. If your gateway has a state folder of its own, name it with --state.';
}

/** Returns true if the command line chooses among the running gateways. */
function isChosen({ pid, configPath }: Values): boolean {
  return pid !== undefined || configPath !== undefined;
}

function jsonLines(calls: readonly Call[]): string {
  return calls.map((call) => `${JSON.stringify(call)}\n`).join('');
}

/** Milliseconds; the last moment that a `Date` can hold. */
const LATEST = 8.64e15;

/** Checks a line of a history file, because users may edit these files. */
function isCall(value: unknown): value is Call {
  const { id, serverId, toolName, status, source, ...rest } = (value ?? {}) as Record<string, unknown>;
  const { submittedAt, startedAt = 0, completedAt = 0, retryAttempt, error = { message: '' } } = rest;
  const { client = { name: '', version: '' } } = rest;
  const { name, version } = (client ?? {}) as { name?: unknown; version?: unknown };
  const { message } = (error ?? {}) as { message?: unknown };
  const texts = [id, serverId, toolName, status, source, message, name, version];
  const areTexts = texts.every((text) => typeof text === 'string');
  return areTexts && [submittedAt, startedAt, completedAt].every(isTime) && typeof retryAttempt === 'number';
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) < LATEST;
}
