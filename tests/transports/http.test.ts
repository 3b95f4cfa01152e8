import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../packages/gateway/src/config/config.generated.ts';
import { describeConnection, FIXTURE, type Site } from './connection.case.ts';

describeConnection({
  name: 'Streamable HTTP',
  tellsLoss: false,
  hasStderr: false,
  exited: /^Server 'it' ended its answer to exit before the result came$/,
  killed: /^Server 'it' ended its answer to hang before the result came$/,
  start: () => startServer('http', (url) => ({ url })),
});

describeConnection({
  name: 'HTTP+SSE',
  tellsLoss: false,
  hasStderr: false,
  exited: /^Server 'it' closed its event stream$/,
  killed: /^Server 'it' closed its event stream$/,
  start: () => startServer('sse', (url) => ({ sseConfig: { url } })),
});

/** Starts the fixture as a process that is not the gateway's. */
async function startServer(transport: string, entry: (url: string) => ServerConfig): Promise<Site> {
  const child = spawn(process.execPath, [FIXTURE, transport], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  // Neither is a resource of the connection.
  child.unref();
  child.stdout.destroy();
  const url = line.toString().trim();
  return {
    config: entry(url),
    kill: async () => void child.kill('SIGKILL'),
    leftovers: async () => {
      const open = await (await fetch(new URL('/open', url), { headers: { connection: 'close' } })).text();
      return open === '{"sessions":0,"streams":0}' ? '' : open;
    },
  };
}
