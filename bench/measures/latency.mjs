import { sequence, warmUp } from '../client.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, median, middle, quantile, ratio } from '../statistics.mjs';
import { benchServers, closeAll } from '../variants.mjs';

export const title = 'Latency: one call after the other, 64 bytes of result';
export const pinned = true;
export const withPeer = true;

export async function run({ variants, quick }) {
  const running = await Promise.all(variants.map((variant) => variant.start(benchServers(1))));
  const effort = { rounds: quick ? 12 : 40, seconds: quick ? 3 : 60 };
  await warmUp(running);
  const rounds = await inRounds(running, effort, (variant) => visit(variant, quick ? 200 : 300));
  await closeAll(running);
  const p50 = (result) => result.p50;
  return {
    tables: [table(running, rounds)],
    figures: {
      'p50 ÷ direct': ratio(rounds, 'weir', 'direct', p50),
      'p50 ÷ byte pipe': ratio(rounds, 'weir', 'byte pipe', p50),
      'p50 ÷ SDK aggregator': ratio(rounds, 'weir', 'sdk aggregator', p50),
    },
  };
}

async function visit({ client, own, nameOf }, count) {
  const before = cpuOf(own);
  const times = await sequence(client, nameOf, { count });
  const cpu = (cpuOf(own) - before) / count;
  return { p50: median(times), p99: quantile(times, 0.99), cpu };
}

function table(running, rounds) {
  const rows = running.map(({ name }) => [
    name,
    middle(rounds, name, (r) => r.p50),
    middle(rounds, name, (r) => r.p99),
    ratio(rounds, name, 'direct', (r) => r.p50),
    ratio(rounds, name, 'byte pipe', (r) => r.p50),
    middle(rounds, name, (r) => r.cpu),
  ]);
  const columns = ['', 'p50 µs', 'p99 µs', 'p50 × direct', 'p50 × byte pipe', 'CPU µs per call'];
  return { columns, rows, note: `${rounds.length} rounds` };
}
