import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { createForeign } from '../../scripts/container-image.mjs';
import { runWeir, startWeir, temporaryFolder, type Weir } from '../support/harness.ts';
import { verifies } from '../verifies.ts';
import {
  contained,
  containers,
  docker,
  engineEnv,
  IMAGE,
  inspect,
  managed,
  noEngine,
  noNetwork,
  ours,
} from './engine.ts';

const env = engineEnv;
const SERVE = { HOST: '0.0.0.0', PORT: '8080' };

describe('containers of a gateway that has ended', () => {
  verifies.skipIf(noNetwork)(
    'MANAGED-3',
    "the next start after kill -9 removes the gateway's own containers, and no others",
    async () => {
      const killed = startWeir(
        {
          obedient: contained('echo'),
          stubborn: contained('ignores-sigterm'),
          web: { ...managed(['matrix', 'legacy', 'http'], { port: 8080 }), env: SERVE },
        },
        { env },
      );
      await opened(killed);
      const mine = await ours();
      expect(mine).toHaveLength(3);
      const { Labels } = (await inspect(mine[0] ?? '')).Config;
      const others = await createForeign(docker, Labels);
      const commands = commandsOf(mine);
      expect(commands).toHaveLength(3);

      killed.kill('SIGKILL');
      await killed.ended;
      await until(() => commands.every((pid) => !isRunning(pid)), 5000);
      // A container that obeys the end of its input or SIGTERM is gone by then; one that ignores both is not.
      await until(async () => (await withLabel(Labels)).length === 1, 5000);

      await using next = startWeir({ another: contained('echo') }, { env });
      await opened(next);
      expect(await withLabel(Labels)).toEqual([]);
      expect(next.stderr).toMatch(/Container weir-stubborn removed: its gateway \(process \d+\) has ended/);
      expect((await containers('label=weir-test.foreign')).toSorted()).toEqual(others.toSorted());
      await docker('rm', '--force', ...others);
    },
    90_000,
  );

  verifies.skipIf(noEngine)(
    'MANAGED-3',
    'a container that ignores SIGTERM is gone when the gateway has ended',
    async () => {
      await using weir = startWeir({ stubborn: contained('ignores-sigterm') }, { env });
      await opened(weir);
      const began = performance.now();
      weir.end();
      expect((await weir.ended).code).toBe(0);
      expect(performance.now() - began).toBeGreaterThan(3900);
      expect(performance.now() - began).toBeLessThan(8000);
      expect(await ours()).toEqual([]);
    },
  );

  verifies.skipIf(noEngine)(
    'MANAGED-3',
    'a container that was just starting is gone when the gateway has ended',
    async () => {
      await using weir = startWeir({ a: contained('echo'), b: contained('ignores-sigterm') }, { env });
      await weir.initialize();
      await until(async () => (await ours()).length > 0, 20_000);
      weir.kill('SIGTERM');
      await weir.ended;
      expect(await ours()).toEqual([]);
    },
  );

  verifies.skipIf(noEngine)('MANAGED-3', 'a container that never answers is removed', async () => {
    const deaf = { image: IMAGE, args: ['node', '-e', DEAF], startupTimeout: 1500 };
    await using weir = startWeir({ deaf }, { env, args: ['--keep-going'] });
    await weir.initialize();
    await until(async () => (await ours()).length === 1, 20_000);
    const [id = ''] = await ours();
    await weir.says(/did not answer the handshake within 1\.5 s/);
    await until(async () => !(await ours()).includes(id), 10_000);
  });
});

// Neither answers nor ends.
const DEAF = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";

describe('weir docker', () => {
  verifies.skipIf(noEngine)(
    'MANAGED-3',
    'weir docker ps lists the containers of gateways with their owners',
    async () => {
      await using weir = startWeir({ files: contained('echo') }, { env });
      await opened(weir);
      const { Labels } = (await inspect((await ours())[0] ?? '')).Config;
      const others = await createForeign(docker, Labels);
      const { code, stdout } = await runWeir(['docker', 'ps'], { env });
      expect(code).toBe(0);
      const rows = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
      expect(rows[0]).toEqual(['CONTAINER', 'SERVER', 'IMAGE', 'STATUS', 'GATEWAY']);
      expect(rows).toContainEqual(['weir-files', 'files', IMAGE, 'running', `process ${weir.pid}`]);
      expect(rows.filter(([, , , , gateway]) => gateway === 'elsewhere')).toHaveLength(5);
      const json = await runWeir(['docker', 'ps', '--json'], { env });
      expect(JSON.parse(json.stdout)).toContainEqual({
        id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        name: 'weir-files',
        image: IMAGE,
        status: 'running',
        server: 'files',
        pid: weir.pid,
        owner: 'alive',
      });
      await docker('rm', '--force', ...others);
    },
  );

  verifies.skipIf(noEngine)(
    'MANAGED-3',
    'weir docker gc removes containers of gateways that are gone, and no others',
    async () => {
      await using living = startWeir({ a: contained('echo') }, { env });
      await opened(living);
      const killed = startWeir({ stubborn: contained('ignores-sigterm') }, { env });
      await opened(killed);
      const { Labels } = (await inspect((await ours())[0] ?? '')).Config;
      const others = await createForeign(docker, Labels);
      killed.kill('SIGKILL');
      await killed.ended;
      const gone = { removed: [{ server: 'stubborn', owner: 'gone', pid: killed.pid }], left: [] };
      const first = await runWeir(['docker', 'gc', '--json'], { env });
      expect(JSON.parse(first.stdout)).toMatchObject(gone);
      expect(first.code).toBe(0);
      const second = await runWeir(['docker', 'gc'], { env });
      expect(second).toMatchObject({ code: 0, stdout: 'Nothing to remove.\n' });
      expect(await containers('label=weir.server=a')).toHaveLength(1);
      expect((await containers('label=weir-test.foreign')).toSorted()).toEqual(others.toSorted());
      await docker('rm', '--force', ...others);
    },
  );

  verifies.skipIf(noEngine)('MANAGED-3', 'weir docker exits with 1 without an engine', async () => {
    const nowhere = { ...env, DOCKER_HOST: `unix://${join(temporaryFolder(), 'docker.sock')}` };
    for (const action of ['ps', 'gc']) {
      const { code, stdout, stderr } = await runWeir(['docker', action], { env: nowhere });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^Cannot list containers: the container engine cannot be reached; start it/);
    }
  });
});

async function opened(weir: Weir): Promise<void> {
  await weir.initialize();
  await weir.request('tools/list');
}

/** Those with the same owner. */
function withLabel(labels: Record<string, string>): Promise<string[]> {
  const owner = ['weir.owner.pid', 'weir.owner.start'].map((name) => `label=${name}=${labels[name] ?? ''}`);
  return containers(...owner).then(async (ids) => {
    const foreign = await containers('label=weir-test.foreign');
    return ids.filter((id) => !foreign.includes(id));
  });
}

/** The process ids of the commands that are attached to these containers. */
function commandsOf(ids: readonly string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => ids.some((id) => textOf(`/proc/${pid}/cmdline`).endsWith(`${id}\0`)))
    .map(Number);
}

function isRunning(pid: number): boolean {
  const state = textOf(`/proc/${pid}/stat`).split(') ')[1]?.[0];
  return state !== undefined && state !== 'Z';
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

async function until(isSo: () => boolean | Promise<boolean>, ms: number): Promise<void> {
  const began = performance.now();
  while (!(await isSo())) {
    if (performance.now() - began > ms) throw new Error(`not so after ${ms} ms: ${isSo.toString()}`);
    await delay(50);
  }
}
