// A tool that can be called only as a task is listed only to clients that can do so.
import { describe, expect } from 'vitest';
import { scripted, serverWith, textOf, type Json } from '../../support/harness.ts';
import { modern, openSession, rpc, send, serveTest } from '../../support/http.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { itemsOf } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const TASKS = { tasks: { list: {}, cancel: {} } };

const TOOLS = `[
  tool('plain', { description: 'Of "taskSupport": "required" it only speaks' }),
  tool('may', { execution: { taskSupport: 'optional' } }),
  tool('must', { execution: { taskSupport: 'required' } }),
]`;

const legacy = scripted(`
  import { rpcError, serve, text, tool } from 'stdio';
  serve({
    name: 'tasks',
    capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    tools: ${TOOLS},
    on: { 'tools/call': ({ name, task }) => {
      if (name === 'must' && task === undefined) throw rpcError(-32601, 'Call it as a task');
      return text(name);
    } },
  });`);

const modernServer = scripted(`
  import { answer, readMessages, text, tool } from 'stdio';
  const complete = (result) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result });
  const methods = {
    'server/discover': () => complete({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, extensions: { '${EXTENSION}': {} } },
    }),
    'tools/list': () => complete({ tools: ${TOOLS} }),
    'tools/call': ({ name }) => complete(text(name)),
  };
  readMessages((message) => message.method && message.id !== undefined && answer(methods, message));`);

const ALWAYS = ['l:plain', 'l:may', 'm:plain', 'm:may'];

async function legacyNames(capabilities: Json, version?: string): Promise<string[]> {
  await using weir = serveInProcess({ l: legacy, m: modernServer });
  await weir.initialize(capabilities, version);
  return await weir.tools();
}

describe('a tool that must be called as a task', () => {
  verifies(
    'AGG-CALL-3',
    'a task-only tool of a legacy server is listed to legacy clients with tasks only',
    async () => {
      expect(await legacyNames(TASKS)).toEqual(['l:plain', 'l:may', 'l:must', 'm:plain', 'm:may']);
      // The Inspector says it in this way, and calls such tools.
      expect(await legacyNames({ extensions: { [EXTENSION]: {} } })).toContain('l:must');
      expect(await legacyNames({})).toEqual(ALWAYS);
      expect(await legacyNames(TASKS, '2025-06-18')).toEqual(ALWAYS);
    },
  );

  verifies(
    'AGG-CALL-3',
    'a task-only tool of a modern server is listed to modern clients with the extension only',
    async () => {
      await using weir = serveInProcess({ l: legacy, m: modernServer });
      const names = async (capabilities: Json): Promise<string[]> => {
        const ask = await open(weir, 'modern', capabilities);
        return itemsOf<{ name: string }>(await ask('tools/list'), 'tools').map(({ name }) => name);
      };
      expect(await names({ extensions: { [EXTENSION]: {} } })).toEqual([...ALWAYS, 'm:must']);
      expect(await names({})).toEqual(ALWAYS);
      expect(await names(TASKS)).toEqual(ALWAYS);
    },
  );

  verifies('AGG-CALL-3', 'each client on HTTP gets task-only tools by its own capabilities', async () => {
    await using test = await serveTest({ l: legacy, m: modernServer });
    const [able, other] = [await openSession(test.url, { capabilities: TASKS }), await openSession(test.url)];
    const counts = [];
    for (const session of [able, other, able])
      counts.push(itemsOf((await session.post(rpc('tools/list', {}, 1))).json, 'tools').length);
    counts.push(itemsOf((await send(test.url, modern('tools/list'))).json, 'tools').length);
    expect(counts).toEqual([5, 4, 5, 4]);
  });

  verifies('AGG-CALL-3', 'a call of an unlisted task-only tool gets the error of its server', async () => {
    await using weir = serveInProcess({ l: legacy, a: serverWith(['x']) });
    await weir.initialize();
    expect((await weir.callTool('l:must')).error).toEqual({ code: -32601, message: 'Call it as a task' });
    expect(textOf(await weir.callTool('l:may'))).toBe('may');
  });
});
