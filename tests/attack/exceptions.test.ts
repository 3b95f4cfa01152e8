// A mistake of the gateway's own, planted on a path that a peer's message takes, ends that peer's business and nothing else.
import { describe, expect, vi } from 'vitest';
import { InFlightRequest } from '../../packages/gateway/src/call/relay.ts';
import { fixture, scripted, textOf } from '../support/harness.ts';
import { eventually } from '../support/http.ts';
import { serveInProcess, type InProcess } from '../support/in-process.ts';
import { verifies } from '../verifies.ts';

const told = ({ logged }: InProcess): string[] => logged.filter((line) => line.includes('planted'));

describe('an exception', () => {
  verifies('SAFE-4', 'H1: an exception in a request of a client is an error of that request', async () => {
    await using weir = serveInProcess({ echo: fixture('echo') });
    await weir.initialize();
    await weir.request('tools/list');
    const { fronts } = weir.gateway;
    const { chain } = fronts;
    Object.defineProperty(fronts, 'chain', {
      configurable: true,
      get: () => {
        throw new Error('planted');
      },
    });
    const { error } = await weir.callTool('echo:echo', { text: 'x' });
    expect(error).toMatchObject({
      code: -32603,
      message: "Internal error. The gateway's log has the details.",
    });
    expect(told(weir)).toHaveLength(1);
    Object.defineProperty(fronts, 'chain', { value: chain });
    expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
  });

  verifies(
    'SAFE-4',
    'H1: in a request that was queued during the start ends that request alone',
    async () => {
      await using weir = serveInProcess({ echo: fixture('echo') });
      await weir.initialize();
      const view = weir.gateway.fronts.view();
      let { snapshot } = view;
      let reads = 0;
      Object.defineProperty(view, 'snapshot', {
        get() {
          if (reads++ === 0) throw new Error('planted');
          return snapshot;
        },
        set(next: typeof snapshot) {
          snapshot = next;
        },
      });
      const [first, second] = await Promise.all([weir.request('tools/list'), weir.request('tools/list')]);
      expect(first.error).toMatchObject({ code: -32603 });
      expect(second.result).toHaveProperty('tools');
      expect(told(weir)).toHaveLength(1);
    },
  );

  verifies(
    ['SAFE-4', 'HEALTH-2'],
    'H1: an exception in a message of a server restarts that server',
    async () => {
      const bad = scripted(`
      import { notify, serve, text, tool } from 'stdio';
      const call = { pid: () => text(process.pid), notify: () => void notify('notifications/x') };
      serve({ name: 'bad', tools: [tool('pid'), tool('notify')], call });
    `);
      await using weir = serveInProcess({ bad, echo: fixture('echo') });
      await weir.initialize();
      const pid = textOf(await weir.callTool('bad:pid'));
      const [client] = weir.gateway.server.clients;
      if (client === undefined) throw new Error('There is no client');
      const throwing = Object.create(client, {
        notified: {
          value: () => {
            throw new Error('planted');
          },
        },
      }) as typeof client;
      weir.gateway.server.attach(throwing);
      const { error } = await weir.callTool('bad:notify');
      expect(error?.message).toContain('was stopped because of an internal error of Weir');
      weir.gateway.server.detach(throwing);
      expect(told(weir)[0]).toContain('[bad]');
      expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
      const next = await eventually(async () => textOf(await weir.callTool('bad:pid')) || undefined);
      expect(next).not.toBe(pid);
    },
  );

  verifies(
    ['SAFE-4', 'HEALTH-2'],
    'H1: an exception in the answer of a server is an error of its call',
    async () => {
      await using weir = serveInProcess({ echo: fixture('echo') });
      await weir.initialize();
      await weir.request('tools/list');
      vi.spyOn(InFlightRequest.prototype, 'answered').mockImplementationOnce(() => {
        throw new Error('planted');
      });
      const { error } = await weir.callTool('echo:echo', { text: 'x' });
      expect(error).toMatchObject({ code: -32603 });
      expect(told(weir)[0]).toContain('[echo]');
    },
  );
});
