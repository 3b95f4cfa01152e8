import {
  askGateway,
  findGateways,
  followGateway,
  readHistory,
  type FoundGateway,
  type SocketLocation,
  type ToolInvocationRequest,
} from '@weir/gateway';
import type { ControlArgs } from './control-arguments.ts';
import { looksOf, type ControlContext } from './control-context.ts';
import { ControlFailure, doesNotAnswer, silentAmong } from './control-failure.ts';
import { isShown, selectCalls, showCall, showCalls } from './show-history.ts';

/** A gateway that has just been started is heard of this soon. */
const LOOK_AGAIN_MS = 1000;

/** What is kept and what the gateways that run remember. */
export async function showHistory(
  found: readonly FoundGateway[],
  args: ControlArgs,
  context: ControlContext,
): Promise<ToolInvocationRequest[]> {
  const kept = isNarrowed(args) || args.state === undefined ? [] : readHistory(args.state).filter(isCall);
  const silent = silentAmong(found);
  if (isNarrowed(args) && silent.length > 0) throw new ControlFailure(doesNotAnswer(silent[0]));
  const answering = found.filter(({ report }) => report !== undefined);
  const fresh = await Promise.all(
    answering.map(({ socketPath }) => askGateway(socketPath, 'history', {}).catch(() => [])),
  );
  if (found.length === 0 && kept.length === 0) throw new ControlFailure(nothingKnown(args));
  const calls = selectCalls([...kept, ...fresh.flat()], args.shown);
  context.output.write(args.json ? lines(calls) : shownCalls(calls, args, context));
  return calls;
}

/** Where more are to come, the heading alone is worth something. */
function shownCalls(
  calls: readonly ToolInvocationRequest[],
  { shown }: ControlArgs,
  context: ControlContext,
): string {
  if (calls.length > 0 || shown.follow) return showCalls(calls, looksOf(context), shown.follow);
  return shown.failed || shown.server !== undefined ? 'No such call is known.\n' : 'No call so far.\n';
}

/** The same, and then every call as it ends, also of gateways that are started meanwhile. */
export async function followHistory(
  found: readonly FoundGateway[],
  args: ControlArgs,
  context: ControlContext & { place: SocketLocation },
): Promise<void> {
  const { now, place, stopped } = context;
  const since = now();
  const over = (await showHistory(found, args, context)).filter(
    ({ completedAt }) => completedAt !== undefined,
  );
  const shown = new Set(over.map(({ id }) => id));
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
          fresh.forEach((call) => tell(call, args, context));
        },
        // A call that ends from now on is new, also when the clock has been set back.
        happened(event) {
          if (event.type === 'call-ended' && !shown.has(event.call.id)) tell(event.call, args, context);
        },
      },
    );
    void gone.catch(() => {}).then(() => followed.delete(socketPath.path));
  };
  found.forEach(follow);
  const timer = isNarrowed(args)
    ? undefined
    : setInterval(() => void findGateways(place).then((all) => all.forEach(follow)), LOOK_AGAIN_MS);
  await stopped();
  clearInterval(timer);
}

function tell(call: ToolInvocationRequest, { json, shown }: ControlArgs, context: ControlContext): void {
  if (isShown(call, shown)) context.output.write(json ? lines([call]) : showCall(call, looksOf(context)));
}

function nothingKnown(args: ControlArgs): string {
  return isNarrowed(args)
    ? 'No such gateway runs. What gateways have left behind is shown without --config and --pid.'
    : 'No call is known: no gateway runs, and none has left a history. If it has a state folder of its own, name it with --state.';
}

function isNarrowed({ pid, configPath }: ControlArgs): boolean {
  return pid !== undefined || configPath !== undefined;
}

function lines(calls: readonly ToolInvocationRequest[]): string {
  return calls.map((call) => `${JSON.stringify(call)}\n`).join('');
}

/** The latest moment that there is a date for. */
const LATEST = 8.64e15;

/** The files are anybody's to change: whatever is shown of a call must be what it should be. */
function isCall(value: unknown): value is ToolInvocationRequest {
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
