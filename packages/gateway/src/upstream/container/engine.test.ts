import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { Containers } from './containers.ts';
import { explainEngine, takenPort, Engine } from './engine.ts';
import { handOver } from './env-file.ts';
import { labelsOf, ownSelf, type ContainerOwner } from './owner.ts';
import { refuseUnsafeMounts } from './unsafe-mounts.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-engine-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.useRealTimers());

const self = ownSelf();
const noWindows = process.platform === 'win32' ? 'needs a shell script as a command' : undefined;

describe('errors of the container engine', () => {
  const words: [said: string, meant: string][] = [
    [
      'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?',
      'the container engine cannot be reached; start it',
    ],
    [
      'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "…": dial unix',
      'this user may not use the container engine',
    ],
    ['Error response from daemon: No such image: a:1', 'there is no such image here (No such image: a:1)'],
    ['invalid reference format: repository name must be lowercase', 'that is not the name of an image'],
    [
      'Error response from daemon: OCI runtime create failed: exec: "x": executable file not found in $PATH: unknown\nError: failed to start containers: 1',
      'the image has no such command (OCI runtime create failed',
    ],
    ['Error response from daemon: network nowhere not found', 'the engine has no such network'],
    [
      'Error response from daemon: invalid mount config for type "bind": bind source path does not exist: /x',
      'a source in "volumes" does not exist',
    ],
    [
      'WARNING: something\nError response from daemon: quite new \u001b[31m',
      'the container engine refused: quite new \\x1b[31m',
    ],
    ['', 'the container engine refused: it gave no reason'],
  ];
  for (const [said, meant] of words)
    verifies('MANAGED-1', `explainEngine explains an error: ${meant}`, () => {
      expect(explainEngine(said).message).toContain(meant);
    });

  verifies('MANAGED-1', 'takenPort tells whether a container or a program has the port', () => {
    expect(takenPort('Bind for 127.0.0.1:18080 failed: port is already allocated')).toEqual({
      port: 18080,
      by: 'container',
    });
    expect(
      takenPort('Error starting userland proxy: listen tcp4 127.0.0.1:18080: bind: address already in use'),
    ).toEqual({ port: 18080, by: 'program' });
    expect(takenPort('listen tcp4 0.0.0.0:1: permission denied')).toBeUndefined();
  });
});

describe('the docker command', () => {
  verifies.skipIf(noWindows)(
    'MANAGED-1',
    'a docker command that does not end is given up after its time limit',
    async () => {
      const engine = engineThat('exec sleep 30');
      await expect(engine.ask(['ps'], { timeoutMs: 200 })).rejects.toThrow(
        'the container engine did not answer within 0.2 s',
      );
    },
  );

  verifies.skipIf(noWindows)('MANAGED-3', 'a container that is already gone counts as removed', async () => {
    const gone = engineThat('echo "Error: No such container: x" >&2; exit 1');
    await expect(gone.remove('x')).resolves.toBeUndefined();
    await expect(gone.stop('x', 1)).resolves.toBeUndefined();
    const stuck = engineThat('echo "Error response from daemon: device busy" >&2; exit 1');
    await expect(stuck.remove('x')).rejects.toThrow('the container engine refused: device busy');
    await expect(stuck.stop('x', 1)).rejects.toThrow('device busy');
  });
});

describe('orphaned containers', () => {
  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'orphaned containers are looked for at the start and every minute until the end',
    async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const { engine, calls } = engineWith([]);
      const containers = new Containers(engine, { info() {}, warn() {}, error() {} });
      await Promise.all([containers.ready(), containers.ready()]);
      await containers.ready();
      expect(calls()).toHaveLength(1);
      vi.advanceTimersByTime(60_000);
      await expect.poll(() => calls().length).toBe(2);
      vi.advanceTimersByTime(60_000);
      await expect.poll(() => calls().length).toBe(3);
      containers.end();
      vi.advanceTimersByTime(600_000);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'containers of a dead gateway are removed, and a failed removal is logged',
    async () => {
      const gone = { ...self, pid: '2147480000' };
      const { engine, calls } = engineWith([
        { Id: 'a', Name: '/orphan', labels: { ...named('orphan', gone), 'weir.server': 's' } },
        { Id: 'stuck', Name: '/stuck', labels: named('stuck', gone) },
        { Id: 'b', Name: '/living', labels: named('living', self) },
        { Id: 'c', Name: '/foreign', labels: named('foreign', { ...gone, boot: 'another' }) },
        { Id: 'd', Name: '/of-an-image-made-from-ours', labels: named('orphan', gone) },
      ]);
      const said: string[] = [];
      const log = (text: string): void => void said.push(text);
      const containers = new Containers(engine, { info: log, warn: log, error: log });
      await containers.ready();
      containers.end();
      expect(
        calls()
          .filter((call) => call.startsWith('rm'))
          .toSorted(),
      ).toEqual(['rm --force --volumes a', 'rm --force --volumes stuck']);
      expect(said).toEqual([
        'Container orphan removed: its gateway (process 2147480000) has ended',
        'Cannot remove container stuck, whose gateway has ended: the container engine refused: device busy',
      ]);
    },
  );

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'containers that ended while the engine was away are removed when it is back',
    async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const engine = engineThat(`
        echo "$*" >>"$0.calls"
        [ -e "$0.down" ] || exit 0
        echo "Cannot connect to the Docker daemon" >&2; exit 1`);
      const file = pathOf(engine);
      const removals = (): string[] =>
        readFileSync(`${file}.calls`, 'utf8')
          .split('\n')
          .filter((call) => call.startsWith('rm'));
      const containers = new Containers(engine, { info() {}, warn() {}, error() {} });
      await containers.ready();
      writeFileSync(`${file}.down`, '');
      await expect(engine.remove('x')).rejects.toThrow('cannot be reached');
      rmSync(`${file}.down`);
      vi.advanceTimersByTime(60_000);
      await expect.poll(() => removals().length).toBe(2);
      await expect.poll(() => readFileSync(`${file}.calls`, 'utf8')).toMatch(/rm [^\n]*\nps [^\n]*\n$/u);
      vi.advanceTimersByTime(60_000);
      await expect.poll(() => readFileSync(`${file}.calls`, 'utf8')).toMatch(/\nps [^\n]*\nps [^\n]*\n$/u);
      expect(removals()).toEqual(['rm --force --volumes x', 'rm --force --volumes x']);
      containers.end();
    },
  );

  verifies.skipIf(noWindows)(
    'MANAGED-3',
    'an engine that starts later is asked for orphaned containers again',
    async () => {
      const engine = engineThat(
        '[ -e "$0.up" ] && exit 0; echo "Cannot connect to the Docker daemon" >&2; exit 1',
      );
      const containers = new Containers(engine, { info() {}, warn() {}, error() {} });
      await expect(containers.ready()).rejects.toThrow('the container engine cannot be reached');
      writeFileSync(`${pathOf(engine)}.up`, '');
      await expect(containers.ready()).resolves.toBeUndefined();
      containers.end();
    },
  );
});

describe('variables of a container', () => {
  verifies(
    'MANAGED-2',
    'variables are passed in an unnamed file, those of several lines in the environment',
    () => {
      const handed = handOver({ A: 'x', PATH: '/x', LINES: 'a\nb' }, { PATH: '/bin' });
      expect(handed.args).toEqual(['--env-file=/dev/stdin', '--env=LINES']);
      expect(handed.env).toEqual({ LINES: 'a\nb' });
      expect(readFileSync(handed.stdin ?? -1, 'utf8')).toBe('A=x\nPATH=/x\n');
      handed.close();
      const none = handOver({}, {});
      expect(none).toMatchObject({ args: [], env: {}, stdin: undefined });
      none.close();
    },
  );

  verifies(
    'MANAGED-2',
    'variables that would mislead the docker command or have invalid names are refused',
    () => {
      expect(() => handOver({ DOCKER_HOST: 'a\nb' }, {})).toThrow(
        'the value of "DOCKER_HOST" in its "env" has several lines',
      );
      expect(() => handOver({ PATH: 'a\nb' }, { PATH: '/bin' })).toThrow('the value of "PATH"');
      for (const name of ['', 'A B', 'A=B', '#A', 'A\nB'])
        expect(() => handOver({ [name]: 'x' }, {})).toThrow('is not a valid name of a variable');
    },
  );
});

describe('volumes of a container', () => {
  verifies.skipIf(noWindows)(
    'MANAGED-2',
    'volumes that hold the machine or its engine are refused, and others are accepted',
    () => {
      const socket = join(folder, 'engine.sock');
      writeFileSync(socket, '');
      const env = { DOCKER_HOST: `unix://${socket}`, HOME: folder };
      const refused = [
        '/:/x',
        '//:/x:ro',
        '/tmp/..:/x',
        `${socket}:/x`,
        `${folder}:/x`,
        `${dirname(folder)}:/x`,
      ];
      expect(refused.filter((volume) => !isRefused(volume, env))).toEqual([]);
      const fine = ['/srv/weir-not-there:/x', 'cache:/x', `${join(folder, 'notes')}:/x`];
      expect(fine.filter((volume) => isRefused(volume, env))).toEqual([]);
    },
  );

  verifies.skipIf(noWindows)(
    'MANAGED-2',
    'unsafe volumes are refused by name even where their folders do not exist',
    () => {
      const env = {
        HOME: '/srv/homes/me',
        XDG_RUNTIME_DIR: '/srv/run/me',
        DOCKER_HOST: 'unix:///srv/engine/x.sock',
      };
      const refused = [
        '/srv/homes/me/.docker/run/docker.sock:/x',
        '/srv/homes/me/.rd:/x',
        '/srv/homes/me:/x',
        '/srv/run/me/docker.sock:/x',
        '/srv/run/me/podman/podman.sock:/x',
        '/srv/engine:/x',
        '/srv:/x',
        '/Users/me/.docker/run/docker.sock:/x',
      ];
      expect(refused.filter((volume) => !isRefused(volume, env))).toEqual([]);
      expect(['/srv/homes/me/notes:/x', '/srv/data:/x'].filter((volume) => isRefused(volume, env))).toEqual(
        [],
      );
    },
  );

  verifies.skipIf(noWindows)(
    'MANAGED-2',
    'volumes of an engine on another machine are checked by name only',
    () => {
      const link = join(folder, 'link-to-root');
      symlinkSync('/', link);
      for (const DOCKER_HOST of ['ssh://me@far.example', 'tcp://10.0.0.7:2376', 'https://far.example']) {
        expect(isRefused('/var/run/docker.sock:/x', { DOCKER_HOST })).toBe(true);
        expect(isRefused('/home/me:/x', { DOCKER_HOST })).toBe(true);
        expect(isRefused(`${link}:/x`, { DOCKER_HOST })).toBe(false);
      }
      for (const DOCKER_HOST of ['', 'unix:///x.sock', 'tcp://127.0.0.1:2375', 'tcp://localhost:2375'])
        expect(isRefused(`${link}:/x`, { DOCKER_HOST })).toBe(true);
      unlinkSync(link);
    },
  );
});

function isRefused(volume: string, env: Record<string, string>): boolean {
  try {
    refuseUnsafeMounts([volume], env);
    return false;
  } catch {
    return true;
  }
}

function named(name: string, owner: ContainerOwner): Record<string, string> {
  return { ...labelsOf(owner), 'weir.name': name };
}

/** An engine whose command is this script. */
function engineThat(script: string): Engine {
  const bin = mkdtempSync(join(folder, 'bin-'));
  const command = join(bin, 'docker');
  writeFileSync(command, `#!/bin/sh\n${script}\n`);
  chmodSync(command, 0o755);
  return new Engine({ PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` });
}

function pathOf(engine: Engine): string {
  return join(engine.env['PATH']?.split(delimiter)[0] ?? '', 'docker');
}

interface Listed {
  readonly Id: string;
  readonly Name: string;
  readonly labels: Record<string, string>;
}

/** An engine that has these containers and records its calls. */
function engineWith(listed: readonly Listed[]): { engine: Engine; calls: () => string[] } {
  const inspected = listed.map(({ Id, Name, labels }) => ({
    Id,
    Name,
    Config: { Image: 'x', Labels: labels },
    State: { Status: 'running' },
  }));
  const engine = engineThat(`
    [ "$1" = inspect ] || echo "$*" >>"$0.calls"
    case "$1 $4" in
      "ps "*) printf '%s' '${listed.map(({ Id }) => Id).join('\n')}' ;;
      "inspect "*) cat "$0.json" ;;
      "rm stuck") echo "Error response from daemon: device busy" >&2; exit 1 ;;
    esac`);
  const file = pathOf(engine);
  writeFileSync(`${file}.json`, JSON.stringify(inspected));
  writeFileSync(`${file}.calls`, '');
  return { engine, calls: () => readFileSync(`${file}.calls`, 'utf8').split('\n').filter(Boolean) };
}
