// Many hosted servers have their key in the path of their address: no part of it is shown but scheme, host and port.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayReport } from '@weir/gateway';
import { expect } from 'vitest';
import { runUntilFailed, runWeir, startWeir } from '../support/harness.ts';
import { until } from '../support/processes.ts';
import { sendJson, serveHttp, toolServer, type Handler } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

const KEY = 'k3y1n0f2a9b8c7d6';
const PATH = `/s/${KEY}/mcp`;

/** Answers with an error that repeats the path of the request. */
const repeats: Handler = ({ message: { id } }, response) =>
  sendJson(response, { jsonrpc: '2.0', id, error: { code: -32000, message: `no such tool at ${PATH}` } });

verifies(['SAFE-4', 'HEALTH-3'], 'L6: reports, history, log and errors hide the path of a url', async () => {
  await using remote = await serveHttp(toolServer('modern', repeats));
  const { origin } = new URL(remote.url);
  const servers = {
    far: { url: `${origin}${PATH}` },
    plain: { url: `${origin}/mcp` },
    old: { sseConfig: { url: `${origin}/${KEY}/sse` }, enabled: false },
  };
  await using weir = startWeir(servers, { args: ['--debug'] });
  await weir.tools();
  await weir.callTool('far:tool');
  await until(() => existsSync(join(weir.folder, 'state', 'run', `${weir.pid}.sock`)), 10_000);
  const tell = async (...args: string[]): Promise<string> => {
    const ended = await runWeir([...args, '--state', join(weir.folder, 'state')], { folder: weir.folder });
    return ended.stdout + ended.stderr;
  };
  const [report] = JSON.parse(await tell('ps', '--json')) as GatewayReport[];
  expect(report?.servers.map(({ sseConfig }) => sseConfig?.url)).toEqual([
    `${origin}/…`,
    `${origin}/mcp`,
    `${origin}/…`,
  ]);
  const told = [
    await tell('ps'),
    await tell('history'),
    await tell('history', '--json'),
    await tell('logs', 'far'),
  ];
  expect(told[1]).toContain('no such tool at [hidden]');
  for (const text of [...told, weir.stderr]) expect(text).not.toContain(KEY);
});

verifies(
  ['SAFE-4', 'HEALTH-3'],
  'L6: the error of a start hides a path that the server repeats',
  async () => {
    await using remote = await serveHttp(repeats);
    const { stderr } = await runUntilFailed({ far: { url: new URL(PATH, remote.url).href } });
    expect(stderr).toContain("Server 'far' failed during initialization");
    expect(stderr).toContain('no such tool at [hidden]');
    expect(stderr).not.toContain(KEY);
  },
);

verifies(
  ['SAFE-4', 'HEALTH-3'],
  'L6: the error of a redirect within the same host hides the path',
  async () => {
    await using remote = await serveHttp((_, response) =>
      response.writeHead(302, { location: `${PATH}/login` }).end(),
    );
    const { stderr } = await runUntilFailed({ far: { url: new URL(PATH, remote.url).href } });
    expect(stderr).toMatch(/redirects to http:\/\/127\.0\.0\.1:\d+\/… \(HTTP 302\)/u);
    expect(stderr).not.toContain(KEY);
  },
);
