import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { validateConfig } from './validate.ts';

const base = { image: 'mcp/time', containerName: 'mcp-time' };

describe('the rules for servers in containers', () => {
  const accepted = [
    { image: 'mcp/time' },
    { image: 'time' },
    { image: 'registry.example.org:5000/team/time_server:1.2-rc.1' },
    { image: `mcp/time@sha256:${'0a'.repeat(32)}` },
    { image: '${REGISTRY}/time', args: ['--local'], env: { TOKEN: '${TOKEN}' }, inheritEnv: ['TZ'] },
    { dockerConfig: base },
    { dockerConfig: { ...base, ports: { '8080': 18080 } } },
    { dockerConfig: { ...base, port: 8080 }, transport: 'http' },
    { dockerConfig: { ...base, ports: { '8080': 0, '9090': 0 }, port: 9090, path: '/' }, type: 'sse' },
    { dockerConfig: { ...base, ports: { '8080': 0, '9090': 0 } }, transport: 'stdio' },
    { dockerConfig: { ...base, memory: '512m', cpus: 0.5, network: 'none', readOnly: true, pull: 'never' } },
    { dockerConfig: { ...base, memory: '${MEMORY}', volumes: ['/a b:/c', 'cache:/c:rw', 'C:\\x:/c:ro'] } },
    { dockerConfig: { ...base, capabilities: ['CHOWN', 'NET_ADMIN'] } },
  ];
  for (const entry of accepted)
    verifies(['MANAGED-1', 'MANAGED-5'], `accept ${JSON.stringify(entry)}`, () => {
      expect(findings(entry)).toEqual([]);
    });

  const refused: [entry: object, at: string, why: string][] = [
    [{ image: 'Mcp/Time' }, 'image', 'image must be the name of an image, in small letters'],
    [{ image: '--privileged' }, 'image', 'image must be the name of an image'],
    [{ image: 'a b' }, 'image', 'image must be the name of an image'],
    [{ dockerConfig: { ...base, image: 'x//y' } }, 'dockerConfig.image', 'image must be the name'],
    [{ dockerConfig: { image: 'x' } }, 'dockerConfig.containerName', 'Missing required field: containerName'],
    [{ dockerConfig: { ...base, containerName: 'a' } }, 'dockerConfig.containerName', 'at least two'],
    [{ dockerConfig: { ...base, containerName: '-x' } }, 'dockerConfig.containerName', 'begin with a letter'],
    [{ dockerConfig: { ...base, memory: 'much' } }, 'dockerConfig.memory', 'write "memory": "512m"'],
    [{ dockerConfig: { ...base, cpus: 0 } }, 'dockerConfig.cpus', 'write "cpus": 0.5'],
    [{ dockerConfig: { ...base, network: 'container:x' } }, 'dockerConfig.network', 'name of a network'],
    [
      { dockerConfig: { ...base, path: 'mcp' }, transport: 'stdio' },
      'dockerConfig.path',
      'begin with a slash',
    ],
    [{ dockerConfig: { ...base, ports: { http: 80 } } }, 'dockerConfig.ports.http', 'from 1 to 65535'],
    [{ dockerConfig: { ...base, ports: { '70000': 80 } } }, 'dockerConfig.ports["70000"]', 'from 1 to 65535'],
    [{ dockerConfig: { ...base, ports: { '80': 70000 } } }, 'dockerConfig.ports["80"]', 'port numbers'],
    [{ dockerConfig: { ...base, volumes: ['./here:/x'] } }, 'dockerConfig.volumes[0]', 'absolute path'],
    [{ dockerConfig: { ...base, volumes: ['/a:/b:ro,z'] } }, 'dockerConfig.volumes[0]', 'source:target:ro'],
    [{ dockerConfig: { ...base, capabilities: ['--x'] } }, 'dockerConfig.capabilities[0]', 'in capitals'],
    [{ dockerConfig: { ...base, pull: 'often' } }, 'dockerConfig.pull', '"missing", "always" or "never"'],
    [
      { dockerConfig: { ...base, ports: { '1': 0, '2': 0 } } },
      'dockerConfig.port',
      'several ports needs "port"',
    ],
    [{ image: 'x', transport: 'sse' }, 'dockerConfig.port', 'over HTTP needs "port"'],
    [{ image: 'x', transport: 'pigeon' }, 'transport', 'is "stdio", "http" or "sse"'],
    [{ image: 'x', inheritEnv: true }, 'inheritEnv', 'must be an array of names'],
    [{ image: 'x', cwdFromRoots: true }, 'cwdFromRoots', 'is not for containers'],
    [
      { dockerConfig: { ...base, port: 80, network: 'none' } },
      'dockerConfig.network',
      'Ports cannot be published from the network "none"',
    ],
  ];
  for (const [entry, at, why] of refused)
    verifies(['MANAGED-1', 'MANAGED-5'], `refuse ${JSON.stringify(entry)}`, () => {
      expect(findings(entry).map(({ path }) => path)).toContain(`$.mcpServers.time.${at}`);
      expect(
        findings(entry)
          .map(({ message }) => message)
          .join('\n'),
      ).toContain(why);
    });
});

function findings(entry: object): { path: string; message: string }[] {
  return validateConfig({ mcpServers: { time: entry } }).errors;
}
