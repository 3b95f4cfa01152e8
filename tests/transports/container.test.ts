import { expect } from 'vitest';
import type { ServerConfig } from '../../packages/gateway/src/config/config.generated.ts';
import { docker, engineEnv, IMAGE, noEngine, noNetwork, ours } from '../docker/engine.ts';
import { describeConnection, type Site } from './connection.case.ts';

describeConnection({
  name: 'the stdio of a container',
  skipped: noEngine,
  env: engineEnv,
  tellsLoss: true,
  hasStderr: true,
  exited: /exited with code 3$/,
  killed: /exited with code 137$/,
  start: () => startContainer(['stdio'], {}),
});

describeConnection({
  name: 'the port of a container',
  skipped: noNetwork,
  env: engineEnv,
  tellsLoss: true,
  hasStderr: true,
  exited: /exited with code 3$|ended its answer to exit before the result came$/,
  killed: /exited with code 137$|ended its answer to hang before the result came$/,
  start: () => startContainer(['http', '8080'], { port: 8080 }),
});

async function startContainer(args: string[], docks: { port?: number }): Promise<Site> {
  const command = ['node', '/fixtures/transport.mjs', ...args];
  const config: ServerConfig = {
    dockerConfig: { image: IMAGE, containerName: 'transport', command, ...docks },
  };
  return {
    config,
    kill: async () => {
      const [id = '', ...others] = await ours();
      expect(others).toEqual([]);
      await docker('kill', id);
    },
    leftovers: async () => (await ours()).join(' '),
  };
}
