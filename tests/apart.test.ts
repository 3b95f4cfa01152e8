// Servers beside the one that clients share: whoever counts them hears of every end.
import { describe, expect, test } from 'vitest';
import { silentLog } from '../packages/gateway/src/log.ts';
import { Fleet } from '../packages/gateway/src/upstream/fleet.ts';
import type { Apart } from '../packages/gateway/src/upstream/instances.ts';
import { fixture } from './e2e/harness.ts';

const echo = { ...fixture('echo'), sharing: 'per-session' as const };
const nobody = { request() {}, notification() {} };

function createFleet(): Fleet {
  return new Fleet(
    { echo },
    {
      clientInfo: { name: 'test', version: '0' },
      maxMessageSize: 1024 * 1024,
      env: process.env,
      log: silentLog,
      capabilities: Promise.resolve('{}'),
      prefersLegacy: () => false,
      on: { ...nobody, changed() {}, ready() {}, gone() {}, supervised() {} },
    },
  );
}

async function startApart(fleet: Fleet): Promise<Apart> {
  await fleet.start(true, () => {});
  const apart = fleet.startApart('echo', { capabilities: '{}' }, nobody);
  await apart.started;
  return apart;
}

describe('a server that was started apart has ended', () => {
  test('when its like are restarted', async () => {
    const fleet = createFleet();
    const apart = await startApart(fleet);
    await fleet.supervisor.restart('echo');
    await apart.ended;
    expect(apart.upstream.peer.gone).toBeDefined();
    await fleet.stop();
  });

  test('when its entry in the config is another one', async () => {
    const fleet = createFleet();
    const apart = await startApart(fleet);
    const { settled } = await fleet.reload({ echo: { ...echo, env: { A: 'b' } } }, {});
    await Promise.all([settled, apart.ended]);
    expect(apart.upstream.peer.gone).toBeDefined();
    await fleet.stop();
  });

  test('and is waited for by who ends all, until nothing is left of it', async () => {
    const fleet = createFleet();
    const apart = await startApart(fleet);
    apart.stop();
    await apart.ended;
    expect(fleet.conversations()).toContain(apart.upstream);
    await fleet.stop();
    expect(fleet.conversations()).not.toContain(apart.upstream);
  });
});
