// The log level of legacy servers, and the clients that get their messages.
import { describe, expect, onTestFinished } from 'vitest';
import { connectClient } from '../../support/clients.ts';
import { fixture, textOf, type Json, type Received } from '../../support/harness.ts';
import { createTestGateway, open, serveInProcess } from '../../support/in-process.ts';
import type { LineClient } from '../../support/line-client.ts';
import { EVERYTHING } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const at = (logLevel: string): Json => ({ 'io.modelcontextprotocol/logLevel': logLevel });
const log = (level: string, data = level): Json => ({ name: 'c:log', arguments: { level, data } });
const heard = ({ messages }: { messages: readonly Received[] }): unknown[] =>
  messages.filter(({ method }) => method === 'notifications/message').map(({ params }) => params?.['data']);

/** Clients of one gateway. */
function share<Names extends string[]>(...names: Names): { [Index in keyof Names]: LineClient } {
  const gateway = createTestGateway({ c: fixture('asks-given-questions') });
  onTestFinished(() => gateway.close());
  const clients = names.map((name) => connectClient(gateway, name).client);
  gateway.start().catch(() => {});
  return clients as { [Index in keyof Names]: LineClient };
}

describe('the level of logs of a shared server', () => {
  verifies(
    'ERA-2',
    'modern requests raise the level of a shared server once and get its messages alone',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      const ask = await open(weir, 'modern', EVERYTHING);
      await ask('tools/call', log('error', 'unheard'));
      await ask('tools/call', log('error', 'one'), at('warning'));
      await ask('tools/call', log('info', 'too low'), at('warning'));
      await ask('tools/call', log('debug', 'two'), at('debug'));
      await ask('tools/call', log('alert', 'three'), at('info'));
      await ask('tools/call', log('alert', 'no such level'), at('loud'));
      await ask('tools/call', log('emergency', 'unheard too'));
      expect(heard(weir)).toEqual(['one', 'two', 'three']);
      const levels = textOf(await ask('tools/call', { name: 'c:levels' }));
      expect(JSON.parse(levels)).toEqual(['warning', 'debug']);
    },
  );

  verifies(
    'ERA-2',
    'a shared server gets the most verbose level; each client gets messages of its own level',
    async () => {
      const [loud, quiet, silent] = share('loud', 'quiet', 'silent');
      const clients = [loud, quiet, silent];
      for (const client of clients) await client.initialize();
      await quiet.request('logging/setLevel', { level: 'error' });
      await loud.request('logging/setLevel', { level: 'info' });
      await silent.request('logging/setLevel', { level: 'emergency' });
      await silent.request('tools/call', log('info', 'one'));
      await quiet.request('tools/call', log('error', 'two'));
      await loud.request('tools/call', log('debug', 'too low'));
      for (const client of clients) await client.request('ping');
      expect([heard(loud), heard(quiet), heard(silent)]).toEqual([['one', 'two'], ['two'], []]);
      const levels = JSON.parse(textOf(await loud.request('tools/call', { name: 'c:levels' }))) as string[];
      expect(levels).toEqual(['error', 'info']);
    },
  );

  verifies(
    'ERA-2',
    'the level of a shared server does not fall below that of a modern request in flight',
    async () => {
      const [modern, legacy] = share('modern', 'legacy');
      const ask = await open(modern, 'modern', EVERYTHING);
      await legacy.initialize();
      await ask('tools/call', { name: 'c:talk' }, at('debug'));
      await legacy.request('logging/setLevel', { level: 'error' });
      const levels = JSON.parse(textOf(await ask('tools/call', { name: 'c:levels' }))) as string[];
      expect(levels).toEqual(['debug']);
    },
  );

  verifies('ERA-2', 'a modern request sets the level of a per-session server', async () => {
    await using weir = serveInProcess({ c: { ...fixture('asks-given-questions'), sharing: 'per-session' } });
    const ask = await open(weir, 'modern', EVERYTHING);
    await ask('tools/call', log('info', 'heard'), at('info'));
    expect(heard(weir)).toEqual(['heard']);
    expect(JSON.parse(textOf(await ask('tools/call', { name: 'c:levels' })))).toEqual(['info']);
  });
});
