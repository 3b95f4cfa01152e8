// Servers behind TLS, with certificates that openssl makes.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { describe, expect } from 'vitest';
import { runUntilFailed, startWeir, temporaryFolder, textOf } from '../../support/harness.ts';
import { answerText, sendJson, serveHttp, toolServer } from '../../support/remote-server.ts';
import { verifies } from '../../verifies.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const withOpenssl = verifies.skipIf(hasOpenssl ? undefined : 'openssl makes its certificates');

/** Puts TLS before a plain server; its certificate is for `localhost`. */
async function serveTls(port: number) {
  const folder = temporaryFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const seen: { name: string | false | null; isReused: boolean }[] = [];
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    seen.push({ name: socket.servername, isReused: socket.isSessionReused() });
    const plain = connect(port, '127.0.0.1');
    socket.pipe(plain).pipe(socket);
    for (const end of [socket, plain]) end.on('error', () => {});
  });
  server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => void server.close();
  return { port: (server.address() as AddressInfo).port, cert, seen, [Symbol.dispose]: close };
}

describe('a server behind TLS', () => {
  withOpenssl(
    'MANAGED-4',
    'the gateway calls a TLS server by its name where its certificate is trusted',
    async () => {
      await using remote = await serveHttp(
        toolServer('modern', ({ message, headers }, response) =>
          sendJson(response, answerText(message.id, headers.host ?? '')),
        ),
      );
      using tls = await serveTls(remote.port);
      const url = `https://localhost:${tls.port}/mcp`;
      await using weir = startWeir({ far: { url } }, { env: { NODE_EXTRA_CA_CERTS: tls.cert } });
      await weir.tools();
      const calls = [1, 2, 3].map(() => weir.callTool('far:tool'));
      for (const answer of await Promise.all(calls)) expect(textOf(answer)).toBe(`localhost:${tls.port}`);
      expect(tls.seen.every(({ name }) => name === 'localhost')).toBe(true);
      expect(tls.seen.some(({ isReused }) => isReused)).toBe(true);
    },
  );

  withOpenssl(
    'MANAGED-4',
    'the gateway refuses a TLS server with an untrusted or foreign certificate',
    async () => {
      await using remote = await serveHttp(toolServer('modern', () => {}));
      using tls = await serveTls(remote.port);
      const told = async (host: string, env: Record<string, string>): Promise<string> =>
        (await runUntilFailed({ far: { url: `https://${host}:${tls.port}/mcp` } }, { env })).stderr;
      expect(await told('localhost', {})).toContain('has an untrusted certificate at https://localhost');
      expect(await told('127.0.0.1', { NODE_EXTRA_CA_CERTS: tls.cert })).toContain(
        'has an untrusted certificate at https://127.0.0.1',
      );
      expect(remote.seen).toEqual([]);
    },
  );
});
