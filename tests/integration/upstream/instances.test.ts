// Dedicated instances beside the shared one: each of their ends is reported.
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../packages/gateway/src/log.ts';
import { ServerRecords } from '../../../packages/gateway/src/state/server-records.ts';
import { createMemoryStores } from '../../../packages/gateway/src/state/stores.ts';
import type { FleetOptions } from '../../../packages/gateway/src/upstream/fleet/fleet-options.ts';
import { Fleet } from '../../../packages/gateway/src/upstream/fleet/fleet.ts';
import { Chain } from '../../../packages/gateway/src/upstream/gateway-chain.ts';
import type { DedicatedServer } from '../../../packages/gateway/src/upstream/pool/instances.ts';
import { Accounts } from '../../../packages/gateway/src/wire/account.ts';
import { fixture, scripted } from '../../support/harness.ts';

const echo = { ...fixture('echo'), sharing: 'per-session' as const };
const nobody = { request() {}, notification() {} };

function createFleet(kept: Partial<Pick<FleetOptions, 'stores' | 'configPath'>> = {}): Fleet {
  return new Fleet(
    { mcpServers: { echo } },
    {
      stores: createMemoryStores(),
      ...kept,
      chain: new Chain(() => '0123456789abcdef'),
      commandName: 'weir',
      clientInfo: { name: 'test', version: '0' },
      maxMessageSize: 1024 * 1024,
      accounts: new Accounts(1024 * 1024),
      env: process.env,
      log: silentLog,
      capabilities: Promise.resolve('{}'),
      onlyEra: () => undefined,
      keepGoing: true,
      on: { ...nobody, changed() {}, ready() {}, gone() {}, supervised() {} },
    },
  );
}

async function startApart(fleet: Fleet): Promise<DedicatedServer> {
  await fleet.start(() => {});
  const apart = fleet.dedicated.start('echo', { capabilities: '{}' }, nobody);
  await apart.started;
  return apart;
}

describe('a dedicated instance', () => {
  test('a dedicated instance ends when its server is restarted', async () => {
    const fleet = createFleet();
    const apart = await startApart(fleet);
    await fleet.supervisor.restart('echo');
    await apart.ended;
    expect(apart.upstream.peer.gone).toBeDefined();
    await fleet.stop();
  });

  test('a dedicated instance ends when the entry of its server changes', async () => {
    const fleet = createFleet();
    const apart = await startApart(fleet);
    const { settled } = fleet.apply({ mcpServers: { echo: { ...echo, env: { A: 'b' } } } }, {});
    await Promise.all([settled, apart.ended]);
    expect(apart.upstream.peer.gone).toBeDefined();
    await fleet.stop();
  });

  test('the stop of the fleet waits for a dedicated instance that is stopping', async () => {
    const fleet = createFleet();
    const apart = await startApart(fleet);
    void apart.stop();
    await apart.ended;
    expect(fleet.connected()).toContain(apart.upstream);
    await fleet.stop();
    expect(fleet.connected()).not.toContain(apart.upstream);
  });
});

test('a server that is added again waits for the last calls of its old run, also after a failure', async () => {
  const [stores, configPath] = [createMemoryStores(), 'config.json'];
  const slow = scripted(`
    import { serve, text, tool } from 'stdio';
    import { setTimeout as delay } from 'node:timers/promises';
    serve({ name: 'slow', tools: [tool('wait')], call: { wait: () => delay(700).then(() => text('done')) } });`);
  const known = [{ serverKey: 'slow', entry: slow, enabled: true }];
  const memory = new ServerRecords({ store: stores.servers, configPath, log: silentLog }, known);
  memory.remember(
    'slow',
    { enabled: true, autoDisabled: false, failureCount: 1, wasUnreachable: false },
    true,
  );
  await memory.flush();
  const fleet = createFleet({ stores, configPath });
  await fleet.start(() => {});
  await fleet.apply({ mcpServers: { slow } }, {}).settled;
  const first = fleet.servers.byKey.get('slow');
  const call = first?.callTool({ name: 'wait' });
  await expect.poll(() => first?.usage.inFlight).toBe(1);
  fleet.apply({ mcpServers: {} }, {});
  await fleet.apply({ mcpServers: { slow } }, {}).settled;
  expect(first?.peer.gone).toBeDefined();
  await expect(call).resolves.toMatchObject({ content: [{ text: 'done' }] });
  await fleet.stop();
});
