// A container engine of the test file's own, with an image that holds Node and the fixtures.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { IMAGE, importImage } from '../../scripts/container-image.mjs';
import { startEngine, whyNoEngine } from '../../scripts/dockerd.mjs';
import type { ServerEntry } from '../support/harness.ts';

export { IMAGE };

const found = await tryEngine();
const engine = typeof found === 'string' ? undefined : found;

/** Why these tests cannot run here, where they cannot. */
export const noEngine: string | undefined = typeof found === 'string' ? found : undefined;
/** The same for tests that need published ports. */
export const noNetwork: string | undefined =
  noEngine ??
  (engine?.hasNetwork === true ? undefined : 'containers: needs the right to make a network bridge');

/** Variables by which a gateway finds the engine. */
export const engineEnv: Record<string, string> =
  engine === undefined
    ? {}
    : { DOCKER_HOST: engine.host, PATH: `${engine.bin}:${process.env['PATH'] ?? ''}` };

afterAll(() => engine?.stop());

async function tryEngine(): Promise<Awaited<ReturnType<typeof startEngine>> | string> {
  const reason = whyNoEngine();
  if (reason !== undefined) return reason;
  try {
    const started = await startEngine();
    await importImage(started);
    return started;
  } catch (error) {
    return `containers: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** Runs `docker` and returns its output. */
export async function docker(...args: string[]): Promise<string> {
  const env = { ...process.env, ...engineEnv };
  const { stdout } = await promisify(execFile)('docker', args, { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** The ids of all containers, in whatever state, that match these filters. */
export async function containers(...filters: string[]): Promise<string[]> {
  const args = filters.flatMap((filter) => ['--filter', filter]);
  const ids = await docker('ps', '--all', '--quiet', '--no-trunc', ...args);
  return ids === '' ? [] : ids.split('\n');
}

/** The containers of gateways. */
export function ours(): Promise<string[]> {
  return containers('label=weir.owner.pid');
}

export interface Inspected {
  readonly Name: string;
  readonly Config: { readonly Labels: Record<string, string>; readonly Env: string[] };
  readonly HostConfig: Record<string, unknown>;
  readonly State: { readonly Pid: number; readonly Status: string };
}

export async function inspect(id: string): Promise<Inspected> {
  return (JSON.parse(await docker('inspect', id)) as Inspected[])[0] as Inspected;
}

/** A fixture in a container, in the short form. */
export function contained(fixture: string, ...args: string[]): ServerEntry {
  return { image: IMAGE, args: ['node', `/fixtures/${fixture}.mjs`, ...args], startupTimeout: 60_000 };
}

/** A fixture in a container, in full. */
export function managed(fixture: readonly string[], more: object = {}): ServerEntry {
  const [name = '', ...args] = fixture;
  const command = ['node', `/fixtures/${name}.mjs`, ...args];
  const dockerConfig = { image: IMAGE, containerName: `test-${name}`, command, ...more };
  return { dockerConfig, startupTimeout: 60_000 };
}
