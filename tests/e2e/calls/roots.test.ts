// A server that asks for roots of its own accord: no client has a call, so that there may be no client to ask.
import { describe, expect } from 'vitest';
import { scripted, textOf } from '../../support/harness.ts';
import { openSession, rpc, serveTest } from '../../support/http.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

/** Asks for roots after its handshake and tells the answer in its only tool. */
const asker = scripted(`
  import { ask, serve, text, tool } from 'stdio';
  let answer;
  serve({
    name: 'asker',
    tools: [tool('answer')],
    call: { answer: async () => {
      const { result, error } = await answer;
      return text(JSON.stringify(result ?? error));
    } },
    on: { 'notifications/initialized': () => { answer = ask('roots/list'); } },
  });`);

describe('a server that asks for roots while no client has a call', () => {
  verifies(
    ['AGG-CALL-3', 'ERA-2'],
    'a server that asks for roots gets an empty list where the only client is modern',
    async () => {
      await using weir = serveInProcess({ a: asker });
      const ask = await open(weir, 'modern', { roots: {} });
      expect(textOf(await ask('tools/call', { name: 'a:answer' }))).toBe('{"roots":[]}');
    },
  );

  verifies(
    'AGG-CALL-3',
    'a server that asks for roots gets an empty list where the only client has none',
    async () => {
      await using weir = serveInProcess({ a: asker });
      await weir.initialize();
      expect(textOf(await weir.callTool('a:answer'))).toBe('{"roots":[]}');
    },
  );

  verifies(
    'AGG-CALL-3',
    'a server that asks for roots gets an empty list without a client or with several',
    async () => {
      await using test = await serveTest({ a: asker });
      const capabilities = { roots: {} };
      const sessions = [
        await openSession(test.url, { capabilities }),
        await openSession(test.url, { capabilities }),
      ];
      const texts = [];
      for (const session of sessions) texts.push(textOf((await session.post(session.call('a:answer'))).json));
      expect(texts).toEqual(['{"roots":[]}', '{"roots":[]}']);
      expect((await sessions[0]?.post(rpc('ping', {}, 1)))?.json.result).toEqual({});
    },
  );

  verifies('AGG-CALL-3', 'a server that asks for roots gets those of the only client', async () => {
    await using weir = serveInProcess({ a: asker });
    await weir.initialize({ roots: {} });
    const call = weir.callTool('a:answer');
    const { id } = await weir.call('roots/list');
    weir.send({ id, result: { roots: [{ uri: 'file:///a' }] } });
    expect(textOf(await call)).toBe('{"roots":[{"uri":"file:///a"}]}');
  });
});
