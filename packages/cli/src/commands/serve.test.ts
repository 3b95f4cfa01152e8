import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { parse } from '../args.ts';
import { describeError } from '../errors.ts';
import { createLog } from '../output/log.ts';
import { PROGRAM } from '../program.ts';
import { serveArgs, serveOnHttp, type ServeArgs } from './serve.ts';
import { commandFor } from './table.ts';

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'weir-serve-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

function args(...argv: string[]): ServeArgs {
  const parsed = parse(commandFor('serve'), ['--port', '0', '--state', home, ...argv]);
  if ('print' in parsed) throw new Error(parsed.print);
  return serveArgs(parsed.values, {}, PROGRAM);
}

/** Serves until `use` has finished with the output. */
async function serving(
  given: ServeArgs,
  pattern: RegExp,
  use: (printed: string) => Promise<void>,
): Promise<string> {
  const [output, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const log = createLog({ debug: false, file: undefined, stderr: () => stderr, now: Date.now });
  const end = { now: (): void => {} };
  const stopped = new Promise<void>((resolve) => (end.now = resolve));
  const env = { PATH: process.env['PATH'] };
  const served = serveOnHttp(given, {
    log,
    env,
    output,
    home,
    program: PROGRAM,
    platform: process.platform,
    now: Date.now,
    interfaces: () => ({}),
    stopped: () => stopped,
    onHangUp() {},
  });
  let printed = '';
  const isPrinted = new Promise<void>((resolve) => {
    output.on('data', (text: string) => {
      printed += text;
      if (pattern.test(printed)) resolve();
    });
  });
  await Promise.race([isPrinted, served]);
  await use(printed);
  end.now();
  await served;
  return String(stderr.read() ?? '');
}

function emptyConfig(): string {
  const file = join(home, 'mcp.json');
  writeFileSync(file, '{"mcpServers":{}}');
  return file;
}

verifies(
  'SAFE-1',
  'weir serve prints its URL, its token and the path of the log, which never holds the token',
  async () => {
    const file = emptyConfig();
    const logged = await serving(args('--config', file), /stderr\. /u, async (printed) => {
      expect(printed).toMatch(
        /^weir starts 0 servers, served at http:\/\/127\.0\.0\.1:\d+\/mcp {2}token=[\w-]{43}\nThe log /u,
      );
      const url = /http:\S+/u.exec(printed)?.[0] ?? '';
      expect((await fetch(url.replace('/mcp', '/healthz'))).status).toBe(200);
      expect((await fetch(url)).status).toBe(401);
    });
    expect(logged).toContain('No servers to start');
    expect(logged).not.toMatch(/[\w-]{43}/u);
  },
);

test('weir serve names a port in use or a foreign address in its error, with a remedy', async () => {
  const file = emptyConfig();
  await serving(args('--config', file, '--no-auth'), /\n/u, async (printed) => {
    const port = /:(\d+)\/mcp/u.exec(printed)?.[1] ?? '';
    const taken = serving(args('--config', file, '--port', port), /\n/u, async () => {});
    await expect(taken.catch((error: unknown) => describeError(error))).resolves.toBe(
      `Port ${port} on 127.0.0.1 is in use. Choose another with --port; 0 picks a free one.`,
    );
  });
  const elsewhere = serving(args('--config', file, '--host', '192.0.2.1'), /\n/u, async () => {});
  await expect(elsewhere).rejects.toThrow(
    '192.0.2.1 is not an address of this machine. Choose another with --host.',
  );
});

test('the demo starts its own servers and shows how to call them', async () => {
  const servers = fileURLToPath(new URL('../../../../examples/servers', import.meta.url));
  // A link, because the servers import packages of the repository.
  symlinkSync(servers, join(home, 'demo'), 'junction');
  await serving(args('--demo', '--no-auth'), /your own servers/u, async (printed) => {
    expect(printed).toMatch(/^ {2}clock +2 tools\n {2}dice +1 tool\n {2}notes +3 tools$/mu);
    expect(printed).toContain('\nAll 3 servers are running.\n');
    expect(printed).toContain("-H 'Mcp-Name: clock__time-get'");
    expect(printed).toMatch(/curl 'http:\S+\/mcp' -H /u);
    const url = /http:\S+/u.exec(printed)?.[0] ?? '';
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('dice__roll-get');
    await client.close();
  });
});
