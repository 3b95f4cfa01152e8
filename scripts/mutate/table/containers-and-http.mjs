// @ts-check
import { gateway, test } from './places.mjs';

const container = test('upstream/container/create-arguments.test.ts', 'are hardened by default');

/** @type {readonly import('../mutations.mjs').Mutation[]} */
export const CONTAINERS_AND_HTTP = [
  {
    id: 'MANAGED-1',
    number: '127.0.0.1',
    file: gateway('upstream/container/create-arguments.ts'),
    from: '--publish=127.0.0.1:',
    to: ['--publish=0.0.0.0:', '--publish='],
    proofs: [test('upstream/container/create-arguments.test.ts', 'publishes to this machine alone')],
  },
  {
    id: 'MANAGED-2',
    number: '2 GB of memory, 1 CPU, 512 processes',
    file: gateway('upstream/container/create-arguments.ts'),
    from: "memory: '2g', cpus: 1",
    to: ["memory: '4g', cpus: 1", "memory: '2g', cpus: 2"],
    proofs: [container],
  },
  {
    id: 'MANAGED-2',
    number: '2 GB of memory, 1 CPU, 512 processes',
    file: gateway('upstream/container/create-arguments.ts'),
    from: 'MOST_PROCESSES = 512',
    to: ['MOST_PROCESSES = 1024'],
    proofs: [container],
  },
  ...[
    '/run/docker.sock',
    '/run/podman',
    '/run/containerd',
    '~/.docker/run',
    '/var/lib/docker',
    '/var/lib/containers',
  ].map((place) => ({
    id: 'MANAGED-2',
    number: 'the engine’s well-known places',
    file: gateway('config/volumes.ts'),
    from: `'${place}',`,
    to: [''],
    proofs: [test('config/container-rules.test.ts', 'for any engine')],
  })),
  {
    id: 'MANAGED-3',
    number: 'every minute',
    file: gateway('upstream/container/containers.ts'),
    from: 'REAP_EVERY_MS = 60_000',
    to: ['REAP_EVERY_MS = 50_000', 'REAP_EVERY_MS = 70_000'],
    proofs: [test('upstream/container/containers.test.ts', 'at the start and every minute')],
  },
  {
    id: 'SAFE-1',
    number: 'loopback unless told otherwise',
    file: gateway('front/http/serve-http.ts'),
    from: "DEFAULT_HOST = '127.0.0.1'",
    to: ["DEFAULT_HOST = '0.0.0.0'"],
    proofs: [test('front/http/serve-http.test.ts', 'listens on the loopback address by default')],
  },
  {
    id: 'SAFE-1',
    number: 'no other address without a token',
    file: gateway('front/http/serve-http.ts'),
    from: 'token === undefined && !isLoopback(host)',
    to: ['false', "token === undefined && host !== '0.0.0.0' && !isLoopback(host)"],
    proofs: [test('front/http/serve-http.test.ts', 'refuses to listen on')],
  },
];
