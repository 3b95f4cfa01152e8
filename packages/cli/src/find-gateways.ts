import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { findGateways, type FoundGateway, type SocketLocation } from '@weir/gateway';
import type { Context } from './context.ts';
import { CliError, UsageError } from './errors.ts';
import { nearest } from './nearest.ts';
import { stateFolder, type Values } from './values.ts';

/** Returns the running gateways that the command line chooses, those that do not answer included. */
export async function chosenGateways(values: Values, context: Context): Promise<FoundGateway[]> {
  const { pid, token = false } = values;
  const configPath = absolute(values.configPath);
  const found = await findGateways(socketsFor(values, context), { token });
  return found.filter(
    ({ socketPath, report }) =>
      (pid === undefined || pid === socketPath.pid) &&
      (configPath === undefined || isSameFile(configPath, report?.configPath)),
  );
}

/** Returns where the control sockets are. */
export function socketsFor({ state }: Values, { env, platform }: Context): SocketLocation {
  return { env, platform, state: state ?? stateFolder(env) };
}

/** Returns the same, or throws an error that says how to start or find a gateway. */
export async function runningGateways(values: Values, context: Context): Promise<FoundGateway[]> {
  const found = await chosenGateways(values, context);
  if (found.length > 0) return found;
  const { name } = context.program;
  const { pid } = values;
  const configPath = absolute(values.configPath);
  if (pid !== undefined) throw new CliError(`No gateway has the process id ${pid}. See ${name} ps.`);
  if (configPath !== undefined)
    throw new CliError(`No gateway is running with ${configPath}. See ${name} ps.`);
  throw new CliError(
    `No gateway is running. A host starts one if Weir is in its config; or start one yourself: ${name} serve --config FILE. If your gateway has a state folder of its own, name it with --state.`,
  );
}

/** Returns the gateways to change: one, or all of one config. Throws where the choice is open, so that no other is changed by mistake. */
export async function gatewaysToChange(
  action: string,
  values: Values,
  context: Context,
): Promise<FoundGateway[]> {
  const found = await runningGateways(values, context);
  const isChosen = values.configPath !== undefined || values.pid !== undefined;
  if (found.length > 1 && !isChosen)
    throw new UsageError(whichOne(found, `${context.program.name} ${action}`));
  // A suspended gateway would carry the change out when it wakes, long after the user was told of a failure.
  const [silent] = silentAmong(found);
  if (silent !== undefined) throw new CliError(doesNotAnswer(silent));
  return found;
}

function whichOne(found: readonly FoundGateway[], title: string): string {
  const list = found.map(
    ({ socketPath, report }) => `  --pid ${socketPath.pid}  ${report?.configPath ?? '(does not answer)'}`,
  );
  return `${found.length} gateways are running. Choose one for ${title} with --config FILE or --pid NUMBER:\n${list.join('\n')}`;
}

/** Returns the gateways that have a server; throws an error that names the known ones where none has it. */
export function gatewaysWith(server: string, found: readonly FoundGateway[]): FoundGateway[] {
  const having = found.filter((gateway) => serversOf(gateway).includes(server));
  if (having.length === 0) throw new CliError(noSuchServer(server, found));
  return having;
}

function serversOf({ report }: FoundGateway): string[] {
  return report?.servers.map(({ id }) => id) ?? [];
}

function noSuchServer(server: string, found: readonly FoundGateway[]): string {
  const serving = found.find(({ report }) => report?.outside?.includes(server));
  if (serving !== undefined)
    return `Server '${server}' does not run here: this gateway serves only group '${serving.report?.group}', which does not contain it`;
  const known = [...new Set(found.flatMap(serversOf))];
  const silent = silentAmong(found).map(doesNotAnswer);
  const meant = nearest(server, known);
  const hint = meant === undefined ? '' : ` (did you mean '${meant}'?)`;
  const none = `No gateway has a server '${server}'${hint}. Known servers: ${known.join(', ') || 'none'}.`;
  return [...(known.length > 0 || silent.length === 0 ? [none] : []), ...silent].join('\n');
}

/** Returns the process ids of gateways that do not answer. */
export function silentAmong(found: readonly FoundGateway[]): number[] {
  return found.filter(({ report }) => report === undefined).map(({ socketPath }) => socketPath.pid);
}

export function doesNotAnswer(pid: number | undefined): string {
  return `Gateway ${pid} does not answer: it is suspended or overloaded.`;
}

/** Waits for a gateway; its error message is complete. */
export async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new CliError((error as Error).message, { cause: error });
  }
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
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
