import { listContainers, removeOrphans, type OwnedContainer } from '@weir/gateway';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { asJson, table } from '../output/text-table.ts';
import type { Values } from '../values.ts';

type DockerContext = Pick<Context, 'env' | 'output'>;

/** Lists the containers that gateways have started, or removes those whose gateways have ended. */
export function docker({ argument, json = false }: Values, context: DockerContext): Promise<void> {
  return argument === 'gc' ? removeOrphaned(json, context) : listAll(json, context);
}

async function listAll(json: boolean, { env, output }: DockerContext): Promise<void> {
  const containers = await fromEngine(listContainers(env));
  if (json) output.write(asJson(containers));
  else output.write(containers.length === 0 ? 'No gateway has containers.\n' : listed(containers));
}

async function removeOrphaned(json: boolean, { env, output }: DockerContext): Promise<void> {
  const { removed, left } = await fromEngine(removeOrphans(env));
  if (json) output.write(asJson({ removed, left }));
  else output.write(removed.length === 0 ? 'Nothing to remove.\n' : listed(removed, 'removed'));
  if (left.length === 0) return;
  const failures = left.map(({ name, reason }) => `${name}: ${reason}`).join('\n');
  throw new CliError(`Cannot remove:\n${failures}`);
}

async function fromEngine<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'EngineError') throw error;
    throw new CliError(`Cannot list containers: ${error.message}`, { cause: error });
  }
}

const OWNERS: Readonly<Record<OwnedContainer['owner'], (pid: number | undefined) => string>> = {
  alive: (pid) => `process ${pid}`,
  gone: (pid) => `process ${pid}, ended`,
  elsewhere: () => 'elsewhere',
};

function listed(containers: readonly OwnedContainer[], status?: string): string {
  const rows = containers.map((container) => [
    container.name,
    container.server,
    container.image,
    status ?? container.status,
    OWNERS[container.owner](container.pid),
  ]);
  return table([['CONTAINER', 'SERVER', 'IMAGE', 'STATUS', 'GATEWAY'], ...rows], { isColoured: false });
}
