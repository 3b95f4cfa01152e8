// Servers that announce changed lists with every answer, without a change: the gateway reads them ever less often.
import { describe, expect } from 'vitest';
import { scripted } from '../../support/harness.ts';
import { serveInProcess, type InProcess } from '../../support/in-process.ts';
import { openEvents, sendJson, serveHttp, type Handler } from '../../support/remote-server.ts';
import { verifies } from '../../verifies.ts';

/** Long enough for the pauses 100, 200, 400 and 800 ms. */
const WATCHED_MS = 1700;
/** The first list, one more because of the notice during it, and one after each of the pauses, with one to spare. */
const MOST_READINGS = 7;

const TOOLS = [{ name: 'tool', inputSchema: { type: 'object' } }];
const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'stateless', version: '1.0.0' },
};

/** Behaves as a bridge that starts one process per request: each answer follows what a new process announces. */
const stateless: Handler = ({ method, message: { id, method: asked } }, response) => {
  if (method !== 'POST') return void response.writeHead(405).end();
  if (id === undefined) return void response.writeHead(202).end();
  if (asked === 'server/discover')
    return sendJson(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Unknown' } });
  const events = openEvents(response);
  events.send(LIST_CHANGED);
  events.send({ jsonrpc: '2.0', id, result: asked === 'tools/list' ? { tools: TOOLS } : INITIALIZED });
  events.end();
};

const announcing = scripted(`
  import { notify, serve, tool } from 'stdio';
  let lists = 0;
  serve({
    name: 'announcing',
    capabilities: { tools: { listChanged: true } },
    on: {
      'tools/list': () => {
        process.stderr.write('reading ' + ++lists + '\\n');
        notify('notifications/tools/list_changed');
        return { tools: [tool('tool')] };
      },
    },
  });`);

function notices({ messages }: InProcess): (string | undefined)[] {
  return messages.flatMap(({ method }) => method ?? []);
}

async function watch(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
}

describe('a list that is announced again and again without a change', () => {
  verifies(
    ['AGG-REG-2', 'MANAGED-4'],
    'the gateway reads an unchanged list of a stateless remote server ever less often',
    async () => {
      await using remote = await serveHttp(stateless);
      await using weir = serveInProcess({ r: { url: remote.url } });
      expect(await weir.tools()).toEqual(['r:tool']);
      await watch();
      const readings = remote.posted('tools/list').length;
      expect(readings).toBeGreaterThan(3);
      expect(readings).toBeLessThanOrEqual(MOST_READINGS);
      expect(notices(weir)).toEqual([]);
    },
  );

  verifies('AGG-REG-2', 'the gateway reads an unchanged list of a local server ever less often', async () => {
    await using weir = serveInProcess({ a: announcing });
    expect(await weir.tools()).toEqual(['a:tool']);
    await watch();
    const readings = weir.logged.filter((line) => line.includes('[a] reading ')).length;
    expect(readings).toBeGreaterThan(3);
    expect(readings).toBeLessThanOrEqual(MOST_READINGS);
    expect(notices(weir)).toEqual([]);
  });
});
