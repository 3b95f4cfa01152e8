// A container engine of the test file's own, and an image with Node and the fixtures, made from the files of this machine.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { startEngine, whyNoEngine } from '../../scripts/dockerd.mjs';
import type { ServerEntry } from '../e2e/harness.ts';

export const IMAGE = 'weir-test/node:1';

const found = await tryEngine();
const engine = typeof found === 'string' ? undefined : found;

/** Why these tests cannot run here, where they cannot. */
export const noEngine: string | undefined = typeof found === 'string' ? found : undefined;
/** The same for tests that need published ports. */
export const noNetwork: string | undefined =
  noEngine ??
  (engine?.hasNetwork === true ? undefined : 'containers: needs the right to make a network bridge');

/** What a gateway needs to find the engine. */
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
    await importImage(started.host, join(started.bin, 'docker'));
    return started;
  } catch (error) {
    return `containers: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** What `docker` prints. */
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

/** No registry is asked: what this machine runs is what the container gets. */
async function importImage(host: string, command: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-image-'));
  try {
    const node = join(folder, 'bin', 'node');
    for (const [from, to] of [[process.execPath, node], ...librariesOf(process.execPath, folder)] as const) {
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
    mkdirSync(join(folder, 'tmp'));
    cpSync(fileURLToPath(new URL('../fixtures', import.meta.url)), join(folder, 'fixtures'), {
      recursive: true,
    });
    await pipe(folder, command, ['-H', host, 'import', '--change', 'ENV PATH=/bin HOME=/tmp', '-', IMAGE]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function librariesOf(program: string, folder: string): [from: string, to: string][] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => [path, join(folder, path)]);
}

function pipe(folder: string, command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const tar = spawn('tar', ['-C', folder, '-c', '.'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const importing = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
    tar.stdout.pipe(importing.stdin);
    importing.once('error', reject).once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the image could not be imported (exit code ${code})`));
    });
  });
}
