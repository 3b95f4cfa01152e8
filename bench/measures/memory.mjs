import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers } from '../variants.mjs';

export const title = 'Idle memory: the gateway with all its helpers, one server listed';
export const pinned = true;
export const withPeer = true;
const BARE = { name: 'bare Node' };

export async function run({ variants, quick }) {
  const leftOut = quick ? ['direct', 'byte pipe', 'sdk aggregator'] : ['direct'];
  const items = [BARE, ...variants.filter(({ name }) => !leftOut.includes(name))];
  const rounds = await inRounds(items, { rounds: 7, seconds: 25 }, visit);
  const rows = items.map(({ name }) => [
    name,
    middle(rounds, name, (r) => r.processes),
    middle(rounds, name, (r) => r.resident / 1e6),
    ratio(rounds, name, BARE.name, (r) => r.resident),
    middle(rounds, name, (r) => r.proportional / 1e6),
  ]);
  return {
    tables: [{ columns: ['', 'processes', 'resident MB', '× bare Node', 'proportional MB'], rows }],
    figures: { 'resident ÷ bare Node': ratio(rounds, 'weir', BARE.name, (r) => r.resident) },
  };
}

async function visit(variant) {
  if (variant === BARE) return bareNode();
  const { client, own } = await variant.start(benchServers(1));
  await sleep(700);
  const memory = memoryOf(own);
  await client.close();
  return { ...memory, processes: own.length };
}

async function bareNode() {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await sleep(700);
  const memory = memoryOf([child.pid]);
  child.stdin.end();
  return { ...memory, processes: 1 };
}
