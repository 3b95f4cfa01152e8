import { realpathSync } from 'node:fs';
import {
  askGateway,
  endGateway,
  findGateways,
  type FoundGateway,
  type GatewayReport,
  type LoggedLine,
  type SocketLocation,
} from '@weir/gateway';
import { UsageError } from './arguments.ts';
import type { Action, ControlArgs } from './control-arguments.ts';
import { looksOf, type ControlContext } from './control-context.ts';
import { ControlFailure, doesNotAnswer, silentAmong } from './control-failure.ts';
import { controlUsage } from './control-help.ts';
import { followHistory, showHistory } from './history.ts';
import { PROGRAM } from './program.ts';
import { showGateways, showLines } from './show-gateways.ts';
import { printable } from './table.ts';

/** Does what `weir ps` and its like are asked for. */
export async function control(args: ControlArgs, context: ControlContext): Promise<void> {
  const { action, state } = args;
  const place: SocketLocation = { env: context.env, state, platform: context.platform };
  const found = chosen(await findGateways(place, { token: args.token }), args);
  if (action === 'history' && args.shown.follow)
    return followHistory(required(found, args), args, { ...context, place });
  if (action === 'history') return void (await showHistory(found, args, context));
  // For a program no gateway is an answer like any other.
  if (action === 'ps') return ps(args.json ? found : required(found, args), args, context);
  if (action === 'logs') return logs(required(found, args), args, context);
  const meant = onlyOne(required(found, args), args);
  // An order that waits for a gateway to wake would be carried out long after its sender was told of a failure.
  const [silent] = silentAmong(meant);
  if (silent !== undefined) throw new ControlFailure(doesNotAnswer(silent));
  if (action === 'stop') await stop(meant, args, context);
  else await change(action, meant, { args, context });
}

/** The gateways that the command line speaks of. */
function chosen(found: readonly FoundGateway[], { configPath, pid }: ControlArgs): FoundGateway[] {
  return found.filter(
    ({ socketPath, report }) =>
      (pid === undefined || pid === socketPath.pid) &&
      (configPath === undefined || isSameFile(configPath, report?.configPath)),
  );
}

function isSameFile(one: string, other: string | undefined): boolean {
  return other !== undefined && (one === other || realPath(one) === realPath(other));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function required(found: FoundGateway[], { configPath, pid }: ControlArgs): FoundGateway[] {
  if (found.length > 0) return found;
  const which =
    pid !== undefined
      ? `No gateway is process ${pid}. ${PROGRAM.name} ps lists those that run.`
      : configPath !== undefined
        ? `No gateway runs with ${configPath}. ${PROGRAM.name} ps lists those that run.`
        : `No gateway runs. A host that has Weir in its config starts one, or start one yourself: ${PROGRAM.name} serve --config FILE. If it has a state folder of its own, name it with --state.`;
  throw new ControlFailure(which);
}

/** Changes are for one config; nobody is to change another by mistake. */
function onlyOne(found: FoundGateway[], { action, configPath, pid }: ControlArgs): FoundGateway[] {
  if (found.length === 1 || configPath !== undefined || pid !== undefined) return found;
  const list = found.map(
    ({ socketPath, report }) => `  --pid ${socketPath.pid}  ${report?.configPath ?? '(does not answer)'}`,
  );
  const text = `${found.length} gateways run. Say which one ${PROGRAM.name} ${action} is for, with --config FILE or --pid NUMBER:\n${list.join('\n')}`;
  throw Object.assign(new UsageError(text), { usage: controlUsage(PROGRAM) });
}

function ps(found: readonly FoundGateway[], { json }: ControlArgs, context: ControlContext): void {
  const { output, now } = context;
  const reports = found.map(({ report }) => report).filter((report) => report !== undefined);
  const silent = silentAmong(found);
  if (json) return void output.write(asJson([...reports, ...silent.map((pid) => ({ pid, answers: false }))]));
  output.write(showGateways(reports, { ...looksOf(context), now: now() }));
  for (const pid of silent) output.write(`Gateway ${pid} does not answer\n`);
}

async function logs(
  found: readonly FoundGateway[],
  { server, json }: ControlArgs,
  { output }: ControlContext,
): Promise<void> {
  const having = found.filter(({ report }) => report?.servers.some(({ id }) => id === server));
  if (having.length === 0) throw new ControlFailure(noSuchServer(server, found));
  const all = await Promise.all(
    having.map(async ({ socketPath }) => ({
      pid: socketPath.pid,
      lines: await asked(askGateway(socketPath, 'logs', { server })),
    })),
  );
  if (json) return void output.write(asJson(all));
  const isOne = all.length === 1;
  for (const { pid, lines } of all)
    output.write(`${isOne ? '' : `Gateway ${pid}\n`}${linesOf(lines, server)}`);
  for (const pid of silentAmong(found)) output.write(`Gateway ${pid} does not answer\n`);
}

function linesOf(lines: readonly LoggedLine[], server: string): string {
  return lines.length === 0 ? `Server '${server}' has written nothing to stderr.\n` : showLines(lines);
}

function noSuchServer(server: string, found: readonly FoundGateway[]): string {
  const known = new Set(found.flatMap(({ report }) => report?.servers.map(({ id }) => id) ?? []));
  const silent = silentAmong(found).map(doesNotAnswer);
  const none = `No gateway has a server '${server}'. There are: ${[...known].join(', ')}.`;
  return [...(known.size > 0 || silent.length === 0 ? [none] : []), ...silent].join('\n');
}

const DONE: Readonly<Record<Changing, (server: string) => string>> = {
  enable: (server) => `Server '${server}' is enabled`,
  disable: (server) => `Server '${server}' is disabled until ${PROGRAM.name} enable ${server}`,
  restart: (server) => `Server '${server}' has been started again`,
  pause: () => `Calls are paused until ${PROGRAM.name} resume`,
  resume: () => 'Calls pass again',
};
type Changing = Exclude<Action, 'ps' | 'history' | 'logs' | 'stop'>;

async function change(
  action: Changing,
  found: readonly FoundGateway[],
  { args: { server, json }, context: { output } }: { args: ControlArgs; context: ControlContext },
): Promise<void> {
  for (const { socketPath } of found) {
    await ordered(socketPath.pid, askGateway(socketPath, action, { server }));
    const report = await asked(askGateway(socketPath, 'ps', {}));
    const remark = remarkOn(action, report, server);
    if (action === 'restart' && remark !== '')
      throw new ControlFailure(`Server '${server}' was ended (gateway ${socketPath.pid}).${remark}`);
    if (json)
      output.write(
        `${JSON.stringify({ pid: socketPath.pid, done: action, ...afterwards(report, server) })}\n`,
      );
    else output.write(`${DONE[action](server)} (gateway ${socketPath.pid}).${remark}\n`);
  }
}

/** Ends gateways; hosts may start those on stdio again. */
async function stop(
  found: readonly FoundGateway[],
  { json }: ControlArgs,
  { output }: ControlContext,
): Promise<void> {
  for (const { socketPath, report } of found) {
    await ordered(socketPath.pid, endGateway(socketPath));
    if (json) output.write(`${JSON.stringify({ pid: socketPath.pid, done: 'stop' })}\n`);
    else
      output.write(`Gateway ${socketPath.pid} has ended (${report?.mode}, ${printable(placeOf(report))}).\n`);
  }
}

function placeOf({ configPath = 'no config file' }: Pick<GatewayReport, 'configPath'> = {}): string {
  return configPath;
}

/** Waits for an order to be carried out; an older gateway does not know all of them. */
async function ordered<T>(pid: number, order: Promise<T>): Promise<T> {
  try {
    return await asked(order);
  } catch (error) {
    const { message } = error as Error;
    if (!message.includes('does not know')) throw error;
    const remedy = `Gateway ${pid} is older than this command: end it with its host or with Ctrl-C, and start it again.`;
    throw new ControlFailure(`${message}. ${remedy}`, { cause: error });
  }
}

function afterwards({ isStopped, servers }: GatewayReport, server: string): object {
  const now = servers.find(({ id }) => id === server);
  return now === undefined ? { isStopped } : { server: now };
}

/** Enabled is not yet up. */
function remarkOn(action: Changing, { servers }: GatewayReport, server: string): string {
  const { health, lastError = '' } = servers.find(({ id }) => id === server) ?? {};
  const isMeantToRun = action === 'enable' || action === 'restart';
  if (!isMeantToRun || health === undefined || health.connectionState === 'connected') return '';
  return ` It is not up: ${lastError === '' ? health.connectionState : lastError}`;
}

/** What a gateway has against it is said in its own words. */
async function asked<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    throw new ControlFailure((error as Error).message, { cause: error });
  }
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
