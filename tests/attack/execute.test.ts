// Values that reach a command, an address or a socket are judged as they are used, not as they were written.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  runUntilFailed,
  startWeir,
  temporaryFolder,
  textOf,
  Weir,
  commandFor,
  type ServerEntry,
} from '../support/harness.ts';
import { startServe } from '../support/http.ts';
import { until } from '../support/processes.ts';
import { verifies } from '../verifies.ts';

const onUnix = verifies.skipIf(process.platform === 'win32' ? 'needs Unix' : undefined);

/** A `docker` that writes down its arguments and refuses to create anything. */
function fakeDocker(): { env: Record<string, string>; calls: () => string } {
  const bin = temporaryFolder();
  const log = join(bin, 'calls');
  writeFileSync(log, '');
  chmodSync(log, 0o666);
  chmodSync(bin, 0o755);
  const script = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\n[ "$1" = create ] && { echo refused >&2; exit 1; }\nexit 0\n`;
  writeFileSync(join(bin, 'docker'), script, { mode: 0o755 });
  return {
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    calls: () => readFileSync(log, 'utf8'),
  };
}

const named = { image: 'mcp/time', containerName: 'mcp-time' };

describe.concurrent('M2: docker arguments are judged as they are executed', () => {
  const values: [field: string, entry: ServerEntry, env?: Record<string, string>][] = [
    ['image', { image: '--volume=/:/host$', args: ['alpine', 'sh'] }],
    ['image', { image: '${IMAGE}' }, { IMAGE: '--privileged$' }],
    ['dockerConfig.image', { dockerConfig: { ...named, image: '--privileged$' } }],
    ['dockerConfig.containerName', { dockerConfig: { ...named, containerName: 'a$b' } }],
    ['dockerConfig.network', { dockerConfig: { ...named, network: 'container:a$' } }],
    ['dockerConfig.memory', { dockerConfig: { ...named, memory: '1$' } }],
    ['dockerConfig.capabilities[0]', { dockerConfig: { ...named, capabilities: ['$'] } }],
    ['dockerConfig.volumes[0]', { dockerConfig: { ...named, volumes: ['/dev/$:/x'] } }],
    [
      'dockerConfig.volumes[0]',
      { dockerConfig: { ...named, volumes: ['${F}:/x'] } },
      { F: '/proc/1/root/$' },
    ],
    ['dockerConfig.volumes[0]', { dockerConfig: { ...named, volumes: ['/proc/self/cwd/$:/x'] } }],
  ];
  for (const [field, entry, env = {}] of values)
    onUnix(['MANAGED-2', 'SAFE-4'], `M2: ${field} of ${JSON.stringify(entry)} is refused`, async () => {
      const docker = fakeDocker();
      const { code, stderr } = await runUntilFailed({ time: entry }, { env: { ...docker.env, ...env } });
      expect(docker.calls()).not.toContain('create');
      expect(code).toBe(1);
      expect(stderr).toContain(`$.mcpServers.time.${field}`);
      for (const value of Object.values(env)) expect(stderr).not.toContain(value);
    });

  onUnix(
    ['MANAGED-2', 'SAFE-4'],
    'M2: docker gets the image after "--", and its command after the image',
    async () => {
      const docker = fakeDocker();
      await runUntilFailed({ time: { image: 'mcp/time', args: ['--local'] } }, { env: docker.env });
      expect(docker.calls()).toMatch(/^create .* -- mcp\/time --local$/mu);
    },
  );

  const links: [place: string, what: string][] = [
    ['/proc/1/root', 'a link that only root can read'],
    ['/proc/1/cwd', 'a link that only root can read'],
    ['/proc/999999999/root', 'a link to a process that does not exist'],
    ['/dev', 'a link to the devices'],
  ];
  for (const [place, what] of links)
    onUnix(['MANAGED-2', 'SAFE-4'], `M2: a volume through ${what} (${place}) is refused`, async () => {
      const docker = fakeDocker();
      const folder = temporaryFolder();
      chmodSync(folder, 0o777);
      symlinkSync(place, join(folder, 'link'));
      const dockerConfig = { ...named, volumes: [`${join(folder, 'link')}:/x:ro`] };
      const { stderr } = await failedAsNobody({ time: { dockerConfig } }, { folder, env: docker.env });
      expect(docker.calls()).not.toContain('create');
      expect(stderr).toMatch(
        /server 'time'.*dockerConfig\.volumes\[0\].*would expose .* to the container.*allowUnsafeMounts/u,
      );
    });

  onUnix(['MANAGED-2', 'SAFE-4'], 'M2: "allowUnsafeMounts" lets such a volume through', async () => {
    const docker = fakeDocker();
    const folder = temporaryFolder();
    symlinkSync('/dev', join(folder, 'link'));
    const dockerConfig = { ...named, volumes: [`${join(folder, 'link')}:/x`], allowUnsafeMounts: true };
    await runUntilFailed({ time: { dockerConfig } }, { env: docker.env });
    expect(docker.calls()).toContain(`--mount=type=bind,source=${join(folder, 'link')},target=/x`);
  });
});

/** Runs the command until its start fails, as a user who cannot read the links of other users' processes. */
async function failedAsNobody(
  config: Record<string, ServerEntry>,
  options: { folder: string; env: Record<string, string> },
): Promise<{ stderr: string }> {
  const { command, args, ...rest } = commandFor(config, options);
  const isRoot = process.getuid?.() === 0;
  const [own, first] = isRoot
    ? ['setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', command]]
    : [command, []];
  await using weir = new Weir({ command: own, args: [...first, ...args], ...rest });
  return await weir.ended;
}

describe.concurrent('14: a server that every user can replace', () => {
  const openFolder = (): string => {
    const folder = join(temporaryFolder(), 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    return folder;
  };

  onUnix(
    'SAFE-4',
    '14: a server whose command leads into a world-writable folder starts with a warning',
    async () => {
      const [open, own] = [openFolder(), temporaryFolder()];
      writeFileSync(join(open, 'run'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
      symlinkSync(join(open, 'run'), join(own, 'link'));
      await using weir = startWeir({ e: { ...fixture('echo'), command: join(own, 'link') } });
      await weir.tools();
      await weir.says(
        `every user of this machine can write to ${open}, from which it is started. Run: chmod o-w ${open}`,
      );
    },
  );

  onUnix('SAFE-4', '14: a server whose cwd is world-writable starts with a warning', async () => {
    const open = openFolder();
    await using weir = startWeir({ e: { ...fixture('echo'), cwd: open }, f: fixture('echo') });
    await weir.tools();
    await weir.says(`[e] every user of this machine can write to ${open}`);
    expect(weir.stderr).not.toContain('[f] every user');
  });
});

describe.concurrent('L1: requests with many headers', () => {
  const many = 'a:b\r\n'.repeat(2500);
  const request = (host: string, more: string): string =>
    `POST /mcp HTTP/1.1\r\nHost: ${host}\r\n${many}${more}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;

  verifies(['SAFE-1', 'SAFE-4'], 'L1: an Origin behind 2,500 headers is refused', async () => {
    await using served = await startServe({ e: fixture('echo') });
    const { host } = new URL(served.url);
    expect(await exchange(served.url, request(host, 'Origin: http://evil.example'))).toMatch(
      /^HTTP\/1\.1 403 /u,
    );
  });

  verifies(['SAFE-1', 'SAFE-4'], 'L1: a second Host behind 2,500 headers is refused', async () => {
    await using served = await startServe({ e: fixture('echo') });
    const { host } = new URL(served.url);
    expect(await exchange(served.url, request(host, 'Host: evil.example'))).toMatch(/^HTTP\/1\.1 400 /u);
  });

  verifies(['SAFE-1', 'SAFE-4'], 'L1: headers over 16 KiB are refused', async () => {
    await using served = await startServe({ e: fixture('echo') });
    const { host } = new URL(served.url);
    expect(await exchange(served.url, request(host, `X: ${'x'.repeat(16_384)}`))).toMatch(
      /^HTTP\/1\.1 431 /u,
    );
  });
});

describe.concurrent('L2: requests that wait for 100', () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const head = (url: string, more: string): string =>
    `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n` +
    `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n${more}\r\n`;

  const refused: [more: string, status: number][] = [
    ['', 401],
    ['Authorization: Bearer wrong\r\n', 401],
    ['Origin: http://evil.example\r\n', 403],
  ];
  for (const [more, status] of refused)
    verifies(
      ['SAFE-1', 'SAFE-4'],
      `L2: a request with ${more.trim() || 'no token'} gets ${status} and no 100`,
      async () => {
        await using served = await startServe({ e: fixture('echo') });
        const answer = await exchange(served.url, head(served.url, more));
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `, 'u'));
        expect(answer).toMatch(/^connection: close/imu);
      },
    );

  verifies(['SAFE-1', 'SAFE-4'], 'L2: a request with the token gets 100, and then its answer', async () => {
    await using served = await startServe({ e: fixture('echo') });
    const token = `Authorization: Bearer ${served.token}\r\nConnection: close\r\n`;
    const answer = await exchange(served.url, head(served.url, token), (text) =>
      text.startsWith('HTTP/1.1 100 Continue\r\n\r\n') ? body : undefined,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 (?:200|400) /u);
  });
});

/** Sends a text and returns all that comes until the connection ends; `more` is sent once it returns something. */
function exchange(
  url: string,
  text: string,
  more: (answer: string) => string | undefined = () => undefined,
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    let isMoreSent = false;
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setTimeout(10_000, () =>
      reject(new Error(`The connection stays open after: ${answer.slice(0, 500)}`)),
    );
    socket.on('error', reject).on('close', () => resolve(answer));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
      const next = isMoreSent ? undefined : more(answer);
      if (next === undefined) return;
      isMoreSent = true;
      socket.write(next);
    });
  });
}

describe.concurrent('L9: the control socket', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const requests: [what: string, text: string][] = [
    ['an id 5,000 deep', `{"id":${deep(5000)},"method":"ps"}\n`],
    ['a method 5,000 deep', `{"id":1,"method":${deep(5000)}}\n`],
    ['a server 5,000 deep', `{"id":1,"method":"logs","params":{"server":${deep(5000)}}}\n`],
    ['params 5,000 deep', `{"id":1,"method":"ps","params":${deep(5000)}}\n`],
    ['an id that is an object', '{"id":{"toJSON":1},"method":"ps"}\n'],
    ['a line without an end', 'x'.repeat(200_000)],
    ['200 requests at once', '{"id":1,"method":"ps"}\n'.repeat(200)],
  ];
  for (const [what, text] of requests)
    onUnix(['SAFE-4', 'HEALTH-3'], `L9: ${what} ends its connection, not the gateway`, async () => {
      await using weir = startWeir({ e: fixture('echo') });
      await weir.tools();
      const path = join(weir.folder, 'state', 'run', `${weir.pid}.sock`);
      await until(() => existsSync(path), 10_000);
      expect((await answersOf(path, text)).length).toBeLessThanOrEqual(1);
      expect(textOf(await weir.callTool('e:echo', { text: 'well' }))).toBe('well');
    });
});

/** Sends a text to a control socket and returns the lines that come back until it is closed or silent for a second. */
function answersOf(path: string, text: string): Promise<string[]> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(path, () => socket.write(text));
    socket.setTimeout(1000, () => socket.destroy());
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('error', () => {}).once('close', () => resolve(answer.split('\n').filter(Boolean)));
  });
}
