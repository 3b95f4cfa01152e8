import type { Writable } from 'node:stream';
import { listContainers, removeOrphans, type OwnedContainer } from '@weir/gateway';
import { EngineFailure } from './engine-failure.ts';
import { table } from './table.ts';

export interface DockerContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Writable;
  readonly json: boolean;
}

/** Lists the containers that gateways have started. */
export async function showContainers({ env, output, json }: DockerContext): Promise<void> {
  const containers = await explained(listContainers(env));
  if (json) output.write(`${JSON.stringify(containers, null, 2)}\n`);
  else output.write(containers.length === 0 ? 'No container of any gateway.\n' : listed(containers));
}

/** Removes the containers whose gateways are gone. */
export async function collectGarbage({ env, output, json }: DockerContext): Promise<void> {
  const { removed, left } = await explained(removeOrphans(env));
  if (json) output.write(`${JSON.stringify({ removed, left }, null, 2)}\n`);
  else output.write(removed.length === 0 ? 'Nothing to remove.\n' : listed(removed, 'removed'));
  if (left.length === 0) return;
  const failures = left.map(({ name, reason }) => `${name}: ${reason}`).join('\n');
  throw new EngineFailure(`Could not be removed:\n${failures}`);
}

async function explained<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'EngineError') throw error;
    throw new EngineFailure(`Containers cannot be looked for: ${error.message}`, { cause: error });
  }
}

const OWNERS: Readonly<Record<OwnedContainer['owner'], (pid: number | undefined) => string>> = {
  alive: (pid) => `process ${pid}`,
  gone: (pid) => `process ${pid}, gone`,
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
