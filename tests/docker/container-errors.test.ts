import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { runUntilFailed, startWeir, temporaryFolder, type Config } from '../support/harness.ts';
import { verifies } from '../verifies.ts';
import { contained, docker, engineEnv, IMAGE, managed, noEngine, noNetwork, ours } from './engine.ts';

const env = engineEnv;

describe('the error for a container that fails', () => {
  verifies('MANAGED-1', 'the start names a missing docker command', async () => {
    expect(await failure({ time: { image: 'mcp/time' } }, { PATH: temporaryFolder() })).toBe(
      'Failed to spawn server \'time\': the command "docker" was not found; install Docker, or Podman with its "docker" command, or add its folder to PATH',
    );
  });

  verifies.skipIf(noEngine)('MANAGED-1', 'the start names an engine that does not run', async () => {
    const socket = join(temporaryFolder(), 'docker.sock');
    expect(await failure({ time: contained('echo') }, { ...env, DOCKER_HOST: `unix://${socket}` })).toBe(
      'Failed to spawn server \'time\': the container engine cannot be reached; start it, or check DOCKER_HOST and "docker context ls" ' +
        `(Cannot connect to the Docker daemon at unix://${socket}. Is the docker daemon running?)`,
    );
  });

  verifies.skipIf(noEngine)('MANAGED-1', 'the start names an image that does not exist', async () => {
    const dockerConfig = { image: 'weir-test/nothing:1', containerName: 'nothing', pull: 'never' };
    expect(await failure({ time: { dockerConfig } })).toBe(
      "Failed to spawn server 'time': there is no such image here (No such image: weir-test/nothing:1); pull or build it, or check its name",
    );
  });

  verifies.skipIf(noEngine)(
    'MANAGED-1',
    'the start names an image that cannot be found or pulled',
    async () => {
      const text = await failure({ time: { image: '127.0.0.1:1/weir-test/nothing:1' } });
      expect(text).toMatch(
        /^Failed to spawn server 'time': there is no image "127\.0\.0\.1:1\/weir-test\/nothing:1" here, and it could not be pulled \(.*connection refused.*\); check its name, or build it$/,
      );
    },
  );

  verifies(['MANAGED-1', 'MANAGED-5'], 'the start refuses an invalid image name', async () => {
    const { code, stderr } = await runUntilFailed({ time: { image: 'Mcp/Time' } });
    expect(code).toBe(1);
    expect(stderr).toContain(
      'image must be the name of an image, in lower case: write "image": "mcp/time" or "image": "mcp/time:1.2"',
    );
  });

  verifies.skipIf(noNetwork)('MANAGED-1', 'the start names the container that uses the port', async () => {
    const holder = ['run', '--detach', '--name=holds-it', '--publish=127.0.0.1::80', IMAGE];
    await docker(...holder, 'node', '-e', 'setInterval(() => {}, 1000)');
    // A second try needs the name.
    onTestFinished(() => docker('rm', '--force', 'holds-it').then(() => {}));
    const port = Number(/:(\d+)/u.exec(await docker('port', 'holds-it', '80'))?.[1]);
    expect(await failure({ web: managed(['echo'], { ports: { '8080': port } }) })).toBe(
      `Failed to spawn server 'web': it could not be started: port ${port} on 127.0.0.1 is taken by the container holds-it; ` +
        'stop that, or choose another host port in "ports" (0 takes one that is free)',
    );
    expect(await ours()).toEqual([]);
  });

  verifies.skipIf(noNetwork)('MANAGED-1', 'the start names a port that a program uses', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await failure({ web: managed(['echo'], { ports: { '8080': port } }) })).toBe(
      `Failed to spawn server 'web': it could not be started: port ${port} on 127.0.0.1 is taken by a program on this machine; ` +
        'end that, or choose another host port in "ports" (0 takes one that is free)',
    );
    server.close();
    expect(await ours()).toEqual([]);
  });

  verifies.skipIf(noEngine)(
    'MANAGED-1',
    'the start names a command that the image does not have',
    async () => {
      expect(await failure({ time: { image: IMAGE, args: ['nosuch'] } })).toMatch(
        /^Server 'time' failed during initialization: it could not be started: the image has no such command \(.* exec nosuch failed: No such file or directory\); correct "command" or "args"$/,
      );
    },
  );

  verifies.skipIf(noNetwork)('MANAGED-1', 'the start fails where no server answers at the port', async () => {
    const web = {
      ...managed(['echo'], { port: 8080, command: ['node', '-e', 'setInterval(() => {}, 1000)'] }),
      startupTimeout: 3000,
    };
    expect(await failure({ web })).toBe(
      "Failed to spawn server 'web': it did not answer at port 8080 within 3 s; " +
        'check "port", or set "startupTimeout" (in milliseconds) in its entry',
    );
    expect(await ours()).toEqual([]);
  });

  verifies.skipIf(noEngine)(
    ['MANAGED-1', 'MANAGED-2'],
    'a call fails with the limit when its container runs out of memory',
    async () => {
      const eater = { image: IMAGE, containerName: 'eater', memory: '64m', command: ['node', '-e', EATER] };
      await using weir = startWeir({ eater: { dockerConfig: eater, startupTimeout: 60_000 } }, { env });
      await weir.initialize();
      expect(await weir.tools()).toEqual(['eater:eat']);
      const { error } = await weir.callTool('eater:eat');
      expect(error?.message).toBe(
        'Server \'eater\' was killed because it used more memory than its limit of 64m; raise "memory" in its dockerConfig',
      );
      expect(await ours()).toEqual([]);
    },
  );
});

const EATER = `
  import('/fixtures/stdio.mjs').then(({ serve, tool }) => serve({
    name: 'eater',
    tools: [tool('eat')],
    call: { eat() { for (const eaten = []; ; ) eaten.push(Buffer.alloc(1e6, 1)); } },
  }));
`;

/** Why the start fails, as the last line that says it. */
async function failure(servers: Config, more: Record<string, string> = env): Promise<string> {
  const { code, stderr } = await runUntilFailed(servers, { env: more, input: INITIALIZE });
  expect(code).toBe(1);
  const said = stderr.split('\n').filter((line) => /^(?:Failed to spawn server|Server ')/.test(line));
  return said.at(-1) ?? stderr;
}

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
})}\n`;
