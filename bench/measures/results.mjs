import { sequence } from '../client.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers, closeAll } from '../variants.mjs';

export const title = 'Big results';
export const pinned = true;
// The SDK's stdio transport closes the connection to a server whose message is longer.
const SDK_LIMIT = 10 * 1024 * 1024;

export async function run({ variants, quick }) {
  const sizes = quick ? [1e6, 10e6] : [100e3, 1e6, 10e6, 32e6, 64e6];
  const running = await Promise.all(variants.map((variant) => variant.start(benchServers(1))));
  const rounds = {};
  for (const size of sizes) {
    const able = running.filter(({ name }) => name !== 'sdk aggregator' || size + 1000 < SDK_LIMIT);
    const effort = { rounds: quick ? 7 : 21, seconds: quick ? 3 : 10, warmUp: 2 };
    rounds[size] = await inRounds(able, effort, (variant) => visit(variant, size));
  }
  await closeAll(running);
  return { tables: [table(sizes, running, rounds)], figures: figures(sizes, rounds) };
}

async function visit({ client, own, nameOf }, bytes) {
  const before = cpuOf(own);
  const [us] = await sequence(client, nameOf, { count: 1, args: { bytes } });
  return { ms: us / 1000, cpu: (cpuOf(own) - before) / 1000 };
}

function table(sizes, running, rounds) {
  const rows = sizes.flatMap((size) =>
    running.map(({ name }) => [
      `${size / 1e6} MB, ${name}`,
      middle(rounds[size], name, (r) => r.ms) ?? 'over its limit',
      ratio(rounds[size], name, 'direct', (r) => r.ms),
      middle(rounds[size], name, (r) => r.cpu),
      middle(rounds[size], name, (r) => r.cpu / (size / 1e6)),
    ]),
  );
  return { columns: ['', 'ms', '× direct', 'CPU ms', 'CPU ms per MB'], rows };
}

function figures(sizes, rounds) {
  const perMegabyte = (size) => middle(rounds[size], 'weir', (r) => r.cpu / size);
  return {
    '10 MB ÷ direct': ratio(rounds[10e6], 'weir', 'direct', (r) => r.ms),
    '10 MB CPU ÷ SDK aggregator': ratio(rounds[10e6], 'weir', 'sdk aggregator', (r) => r.cpu),
    'CPU per MB at 10 MB ÷ at 1 MB': perMegabyte(10e6) / perMegabyte(1e6),
    ...(sizes.includes(64e6) && {
      'CPU per MB at 64 MB ÷ at 10 MB': perMegabyte(64e6) / perMegabyte(10e6),
      '64 MB ÷ direct': ratio(rounds[64e6], 'weir', 'direct', (r) => r.ms),
    }),
  };
}
