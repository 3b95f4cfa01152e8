// On HTTP the servers run before the client comes: it gets their instructions at once, and can follow their tasks.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'vitest';
import { fixture, type Json } from '../../support/harness.ts';
import { modern, open, openSession, send, serveTest, type Sent } from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

const KNOWS_TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const servers = { a: fixture('modern-tasks', 'A'), b: fixture('legacy-tasks', 'B') };
const instructions = '## a\n\nUse A.\n\n## b\n\nUse B with care.';

verifies(
  'AGG-CALL-3',
  'the first answer on HTTP has the instructions and capabilities of all servers',
  async () => {
    await using weir = await serveTest(servers);
    const session = await openSession(weir.url);
    expect(session.opening.result).toMatchObject({ instructions, capabilities: { tasks: { list: {} } } });
    const { json } = await send(weir.url, modern('server/discover'));
    expect(json.result).toMatchObject({
      instructions,
      capabilities: KNOWS_TASKS,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weir' } },
    });
  },
);

/** A request about tasks; its header names the task. */
function aboutTask(method: string, params: Json, name = String(params['taskId'])): Sent {
  const { body = '', headers } = modern(method, params, { capabilities: KNOWS_TASKS });
  return { body, headers: { ...headers, 'Mcp-Name': name } };
}

verifies(
  ['AGG-CALL-3', 'ERA-5'],
  'tasks/get and task subscriptions on HTTP use the public id of a task',
  async () => {
    await using weir = await serveTest(servers);
    const capabilities = KNOWS_TASKS;
    const call = (name: string, args: Json = {}): Sent =>
      modern('tools/call', { name, arguments: args }, { capabilities });
    const { json } = await send(weir.url, call('a:work'));
    expect(json.result).toMatchObject({ resultType: 'task', taskId: 'a~A-1' });
    const got = await send(weir.url, aboutTask('tasks/get', { taskId: 'a~A-1' }));
    expect(got.json.result).toMatchObject({ taskId: 'a~A-1', status: 'working' });
    const differing = await send(weir.url, aboutTask('tasks/get', { taskId: 'a~A-1' }, 'A-1'));
    expect([differing.status, differing.json.error?.code]).toEqual([400, -32020]);
    const notifications = { taskIds: ['a~A-1'] };
    const stream = await open(
      weir.url,
      modern('subscriptions/listen', { notifications }, { id: 'l', capabilities }),
    );
    const heard = listenTo(stream);
    await heard('notifications/subscriptions/acknowledged');
    await send(weir.url, call('a:finish', { taskId: 'A-1' }));
    expect(await heard('notifications/tasks')).toContain('"taskId":"a~A-1"');
    stream.destroy();
  },
);

/** Waits for a notification, which may have come before; returns all that was received. */
function listenTo(stream: IncomingMessage): (method: string) => Promise<string> {
  let text = '';
  stream.on('data', (chunk: string) => (text += chunk));
  return async (method) => {
    while (!text.includes(`"${method}"`)) await once(stream, 'data');
    return text;
  };
}
