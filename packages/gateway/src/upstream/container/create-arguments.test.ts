import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { containerSpec } from './container-spec.ts';
import { createArguments } from './create-arguments.ts';

const base = { image: 'mcp/time', containerName: 'mcp-time' };

describe('the arguments of docker create', () => {
  verifies(
    'MANAGED-2',
    'the arguments of docker create are hardened by default for every form of entry',
    () => {
      for (const config of [
        { image: 'mcp/time' },
        { dockerConfig: base },
        { dockerConfig: { ...base, port: 80 } },
      ]) {
        const args = argumentsFor(config);
        for (const expected of [
          '--init',
          '--rm',
          '--pull=never',
          '--cap-drop=ALL',
          '--security-opt=no-new-privileges',
          '--memory=2g',
          '--memory-swap=2g',
          '--cpus=1',
          '--pids-limit=512',
          '--network=bridge',
        ])
          expect(args).toContain(expected);
        expect(args.join(' ')).not.toMatch(/privileged(?!es)|--mount|--volume|--cap-add|--read-only/);
      }
    },
  );

  verifies('MANAGED-2', 'the arguments of docker create follow the config', () => {
    const more = { memory: '512m', cpus: 0.5, network: 'none', readOnly: true, capabilities: ['CHOWN'] };
    const args = argumentsFor({ dockerConfig: { ...base, ...more } });
    for (const expected of [
      '--memory=512m',
      '--memory-swap=512m',
      '--cpus=0.5',
      '--network=none',
      '--read-only',
      '--tmpfs=/tmp',
      '--cap-add=CHOWN',
    ])
      expect(args).toContain(expected);
  });

  verifies('MANAGED-1', 'the arguments of docker create end with the image and its command', () => {
    expect(argumentsFor({ image: 'mcp/time', args: ['--local', 'UTC'] }).slice(-3)).toEqual([
      'mcp/time',
      '--local',
      'UTC',
    ]);
    expect(argumentsFor({ dockerConfig: { ...base, command: ['serve'] } }).slice(-2)).toEqual([
      'mcp/time',
      'serve',
    ]);
  });

  const published: [config: object, args: string[]][] = [
    [{ dockerConfig: base }, []],
    [{ dockerConfig: { ...base, port: 8080 } }, ['--publish=127.0.0.1::8080']],
    [{ dockerConfig: { ...base, ports: { '8080': 18080 } } }, ['--publish=127.0.0.1:18080:8080']],
    [
      { dockerConfig: { ...base, ports: { '8080': 0, '9090': 1 }, port: 9090 } },
      ['--publish=127.0.0.1::8080', '--publish=127.0.0.1:1:9090'],
    ],
    [{ dockerConfig: { ...base, ports: { '8080': 0 } }, transport: 'stdio' }, ['--publish=127.0.0.1::8080']],
  ];
  for (const [config, expected] of published)
    verifies(
      'MANAGED-1',
      `the container of ${JSON.stringify(config)} publishes to this machine alone`,
      () => {
        expect(argumentsFor(config).filter((arg) => arg.startsWith('--publish'))).toEqual(expected);
      },
    );

  const mounted: [volume: string, mount: string][] = [
    ['/home/me/notes:/notes:ro', 'type=bind,source=/home/me/notes,target=/notes,readonly'],
    ['/a,b "c":/notes', 'type=bind,"source=/a,b ""c""",target=/notes'],
    ['cache:/cache:rw', 'type=volume,source=cache,target=/cache'],
    ['C:\\notes:/notes', 'type=bind,source=C:\\notes,target=/notes'],
  ];
  for (const [volume, mount] of mounted)
    verifies('MANAGED-2', `the volume ${volume} is mounted as ${mount}`, () => {
      expect(argumentsFor({ dockerConfig: { ...base, volumes: [volume] } })).toContain(`--mount=${mount}`);
    });

  verifies('MANAGED-1', 'the "cwd" of a container is a folder in the container', () => {
    expect(argumentsFor({ image: 'x', cwd: '/srv' })).toContain('--workdir=/srv');
    expect(argumentsFor({ image: 'x' }).join(' ')).not.toContain('--workdir');
  });

  verifies('MANAGED-1', 'a container on stdio is interactive, and one on HTTP is not', () => {
    expect(argumentsFor({ image: 'x' })).toContain('--interactive');
    expect(argumentsFor({ dockerConfig: { ...base, port: 80 } })).not.toContain('--interactive');
  });

  verifies('MANAGED-1', 'containerSpec derives the connection from transport, type and ports', () => {
    const http = (config: object): unknown => containerSpec('time', config).http;
    expect(http({ image: 'x' })).toBeUndefined();
    expect(http({ dockerConfig: { ...base, ports: { '80': 0 } }, type: 'stdio' })).toBeUndefined();
    expect(http({ dockerConfig: { ...base, ports: { '80': 0 } } })).toEqual({
      port: 80,
      path: '/mcp',
      isSse: false,
    });
    expect(http({ dockerConfig: { ...base, port: 80 }, transport: 'sse' })).toEqual({
      port: 80,
      path: '/sse',
      isSse: true,
    });
    expect(http({ dockerConfig: { ...base, port: 80, path: '/' }, type: 'http' })).toEqual({
      port: 80,
      path: '/',
      isSse: false,
    });
  });
});

function argumentsFor(config: object): string[] {
  return createArguments(containerSpec('time', config), {
    name: 'mcp-time',
    labels: { 'weir.server': 'time' },
    variables: ['--env-file=/dev/stdin'],
  });
}
