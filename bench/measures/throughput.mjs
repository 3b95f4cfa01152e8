import { burst, warmUp } from '../client.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers, closeAll } from '../variants.mjs';

export const title = 'Throughput: 64 calls in flight';
export const pinned = true;
export const withPeer = true;
const COUNT = 1920;

export async function run({ variants, quick }) {
  const running = await Promise.all(variants.map((variant) => variant.start(benchServers(1))));
  const effort = { rounds: quick ? 12 : 40, seconds: quick ? 5 : 60 };
  await warmUp(running);
  const rounds = await inRounds(running, effort, visit);
  await closeAll(running);
  return {
    tables: [table(running, rounds)],
    figures: {
      'calls/s ÷ direct': ratio(rounds, 'weir', 'direct', (r) => r.perSecond),
      'calls/s ÷ SDK aggregator': ratio(rounds, 'weir', 'sdk aggregator', (r) => r.perSecond),
      'CPU per call ÷ byte pipe': ratio(rounds, 'weir', 'byte pipe', (r) => r.cpu),
      'CPU per call ÷ SDK aggregator': ratio(rounds, 'weir', 'sdk aggregator', (r) => r.cpu),
    },
  };
}

async function visit({ client, own, nameOf }) {
  const before = cpuOf(own);
  const ms = await burst(client, nameOf, { count: COUNT, inFlight: 64 });
  return { perSecond: (COUNT / ms) * 1000, cpu: (cpuOf(own) - before) / COUNT };
}

function table(running, rounds) {
  const rows = running.map(({ name }) => [
    name,
    middle(rounds, name, (r) => r.perSecond),
    ratio(rounds, name, 'direct', (r) => r.perSecond),
    ratio(rounds, name, 'sdk aggregator', (r) => r.perSecond),
    middle(rounds, name, (r) => r.cpu),
    ratio(rounds, name, 'sdk aggregator', (r) => r.cpu),
  ]);
  const columns = ['', 'calls/s', '× direct', '× SDK aggregator', 'CPU µs per call', 'CPU × SDK aggregator'];
  return { columns, rows, note: `${rounds.length} rounds of ${COUNT} calls` };
}
