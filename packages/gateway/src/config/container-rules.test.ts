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
    verifies(['MANAGED-1', 'MANAGED-5'], `the container rules accept ${JSON.stringify(entry)}`, () => {
      expect(findings(entry)).toEqual([]);
    });

  const refused: [entry: object, at: string, why: string][] = [
    [{ image: 'Mcp/Time' }, 'image', 'image must be the name of an image, in lower case'],
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
    verifies(['MANAGED-1', 'MANAGED-5'], `the container rules refuse ${JSON.stringify(entry)}`, () => {
      expect(findings(entry).map(({ path }) => path)).toContain(`$.mcpServers.time.${at}`);
      expect(
        findings(entry)
          .map(({ message }) => message)
          .join('\n'),
      ).toContain(why);
    });
});

describe('unsafe volumes', () => {
  const volumes = (source: string, more: object = {}): { path: string; message: string }[] =>
    findings({ dockerConfig: { ...base, volumes: ['/srv/a:/a', `${source}:/x:ro`], ...more } });

  const unsafe: [source: string, gives: string][] = [
    ['/', 'the root folder of this machine'],
    ['//', 'the root folder of this machine'],
    ['/home/..', 'the root folder of this machine'],
    ['C:\\', 'the root folder of this machine'],
    ['c:/', 'the root folder of this machine'],
    ['/var/run/docker.sock', 'the container engine'],
    ['/run/docker.sock', 'the container engine'],
    ['/run//docker.sock/', 'the container engine'],
    ['/srv/../run/./docker.sock', 'the container engine'],
    ['/Var/Run/Docker.sock', 'the container engine'],
    ['/private/var/run/docker.sock', 'the container engine'],
    ['/host_mnt/var/run/docker.sock', 'the container engine'],
    ['//./pipe/docker_engine', 'the container engine'],
    ['/run', 'the container engine'],
    ['/var/run/', 'the container engine'],
    ['/var', 'the container engine'],
    ['/run/user', 'the container engine'],
    ['/run/user/1000', 'the container engine'],
    ['/run/user/1000/docker.sock', 'the container engine'],
    ['/run/user/1000/podman/podman.sock', 'the container engine'],
    ['/run/podman/podman.sock', 'the container engine'],
    ['/run/containerd/containerd.sock', 'the container engine'],
    ['/home', 'the container engine'],
    ['/home/me', 'the container engine'],
    ['/root', 'the container engine'],
    ['/home/me/.docker', 'the container engine'],
    ['/home/me/.docker/desktop/docker.sock', 'the container engine'],
    ['/Users/me/.docker/run/docker.sock', 'the container engine'],
    ['/Users/me/.colima/default/docker.sock', 'the container engine'],
    ['/Users/me/.config/colima', 'the container engine'],
    ['/Users/me/.lima/default/sock/docker.sock', 'the container engine'],
    ['/Users/me/.rd/docker.sock', 'the container engine'],
    ['/Users/me/.orbstack/run/docker.sock', 'the container engine'],
    ['/Users/me/Library/Containers/com.docker.docker/Data/docker.raw.sock', 'the container engine'],
    ['/home/me/.local/share/containers/podman/machine/podman.sock', 'the container engine'],
    ['/home/me/.local/share/docker/volumes', 'the container engine'],
    ['/var/lib', 'the container engine'],
    ['/var/lib/docker/volumes/x/_data', 'the container engine'],
    ['/var/lib/containers', 'the container engine'],
    ['/etc/docker', 'the container engine'],
    ['/etc', 'the container engine'],
    ['/etc/shadow', 'files that control this machine'],
    ['/etc/passwd', 'files that control this machine'],
    ['/etc/sudoers.d', 'files that control this machine'],
    ['/etc/cron.daily/x', 'files that control this machine'],
    ['/etc/systemd/system', 'files that control this machine'],
    ['/proc', 'files that control this machine'],
    ['/proc/1/root', 'files that control this machine'],
    ['/sys/fs/cgroup', 'files that control this machine'],
    ['/dev', 'files that control this machine'],
    ['/dev/sda', 'files that control this machine'],
    ['/boot', 'files that control this machine'],
    ['C:\\Windows\\System32', 'files that control this machine'],
    ['C:\\ProgramData\\Docker', 'the container engine'],
    ['C:/Users/me/AppData', 'the container engine'],
    ['c:\\users\\me', 'the container engine'],
    ['/mnt/c', 'the root folder of this machine'],
    ['/host_mnt/c/Windows', 'files that control this machine'],
  ];
  for (const [source, gives] of unsafe)
    verifies('MANAGED-2', `the container rules refuse the volume ${source} for any engine`, () => {
      expect(volumes(source)).toHaveLength(1);
      expect(volumes(source)[0]).toMatchObject({ path: '$.mcpServers.time.dockerConfig.volumes[1]' });
      expect(volumes(source)[0]?.message).toContain(`This volume would expose ${gives}`);
      expect(volumes(source)[0]?.message).toContain('"allowUnsafeMounts": true');
      expect(volumes(source, { allowUnsafeMounts: true })).toEqual([]);
    });

  const safe = [
    '/home/me/notes',
    '/home/me/.config/app',
    '/Users/me/Desktop',
    '/root/data',
    '/srv',
    '/srv/run/docker.sock',
    '/opt/docker',
    '/mnt/data',
    '/mnt/c/Users/me/notes',
    '/tmp',
    '/data/var/lib/docker',
    '/var/log',
    '/var/lib/mysql',
    '/etc/localtime',
    '/etc/ssl/certs',
    '/etc/hosts',
    'C:\\Users\\me\\notes',
    'docker-cache',
    '${FOLDER}/x',
  ];
  for (const source of safe)
    verifies('MANAGED-2', `the container rules accept the volume ${source}`, () => {
      expect(volumes(source)).toEqual([]);
    });
});

function findings(entry: object): { path: string; message: string }[] {
  return validateConfig({ mcpServers: { time: entry } }).errors;
}
