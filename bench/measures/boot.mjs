import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { handshake } from '../client.mjs';
import { cpuOf, cpuOfEndedChildren, ownProcesses } from '../processes.mjs';
import { inRounds, median, middle, ratio } from '../statistics.mjs';
import { spawnVariant } from '../variants.mjs';

export const title = 'Own boot: from the spawn to the answer of initialize, no servers';
export const pinned = false;
const BARE = { name: 'node -e 0' };

export async function run({ variants, quick }) {
  const items = [BARE, ...variants.filter(({ single }) => !single)];
  const bare = { cpu: 0, processes: 0 };
  const rounds = await inRounds(
    items,
    { rounds: quick ? 12 : 25, seconds: quick ? 6 : 15, warmUp: 1 },
    (item) => (item === BARE ? bareNode(bare) : boot(item)),
  );
  const bareCpu = bare.cpu / bare.processes;
  const rows = items.map((item) => {
    const cpu = item === BARE ? bareCpu : middle(rounds, item.name, (r) => r.cpu);
    return [
      item.name,
      middle(rounds, item.name, (r) => r.ms),
      ratio(rounds, item.name, BARE.name, (r) => r.ms),
      cpu,
      cpu / bareCpu,
    ];
  });
  return {
    tables: [
      {
        columns: ['', 'ms', '× node -e 0', 'CPU ms', 'CPU × node -e 0'],
        rows,
        note: `${rounds.length} rounds`,
      },
    ],
    figures: {
      'ms ÷ node -e 0': ratio(rounds, 'weir', BARE.name, (r) => r.ms),
      'CPU ÷ node -e 0': middle(rounds, 'weir', (r) => r.cpu) / bareCpu,
    },
  };
}

/** Its CPU is only known in steps of 10 ms: eight at a time, added up over all rounds. */
async function bareNode(sum) {
  const before = cpuOfEndedChildren();
  const times = [];
  for (let i = 0; i < 8; i++) times.push(await runBareNode());
  sum.cpu += cpuOfEndedChildren() - before;
  sum.processes += times.length;
  return { ms: median(times) };
}

async function runBareNode() {
  const started = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - started;
}

export async function boot(variant) {
  const started = performance.now();
  const { client, mark } = spawnVariant(variant, {});
  await handshake(client);
  const ms = performance.now() - started;
  const cpu = cpuOf(ownProcesses(client.pid, mark)) / 1000;
  await client.close();
  return { ms, cpu };
}
