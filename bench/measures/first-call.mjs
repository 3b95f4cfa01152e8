import { sequence } from '../client.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, middle } from '../statistics.mjs';
import { benchServers } from '../variants.mjs';

export const title = 'First call of a fresh process: 10 plain tools, 1,000 tools with an output schema';
export const pinned = true;
const SHAPES = [
  { shape: '10 plain', servers: benchServers(1, { tools: 10 }) },
  { shape: '1,000 schemas', servers: benchServers(1, { tools: 1000, outputSchema: true }) },
];

export async function run({ variants, quick }) {
  const rounds = new Map();
  for (const variant of variants.filter(
    ({ name }) => name === 'weir' || (!quick && name === 'sdk aggregator'),
  )) {
    const items = SHAPES.map(({ shape, servers }) => ({ name: shape, variant, servers }));
    // The SDK's aggregator takes seconds per process: five are enough to see it.
    const effort = { rounds: variant.name === 'weir' ? (quick ? 7 : 15) : 5, seconds: quick ? 3 : 40 };
    rounds.set(variant.name, await inRounds(items, effort, visit));
  }
  const ms = (name, shape) => middle(rounds.get(name), shape, (r) => r.ms);
  const rows = [...rounds].flatMap(([name, each]) =>
    SHAPES.map(({ shape }) => [
      `${name}, ${shape}`,
      ms(name, shape),
      middle(each, shape, (r) => r.cpu),
      each.length,
    ]),
  );
  return {
    tables: [{ columns: ['', 'ms', 'CPU ms', 'processes'], rows }],
    // Ratio of medians, not of pairs: two fresh processes have nothing in common but the round.
    figures: { '1,000 schemas ÷ 10 plain': ms('weir', '1,000 schemas') / ms('weir', '10 plain') },
  };
}

async function visit({ variant, servers }) {
  const { client, own, nameOf } = await variant.start(servers);
  const before = cpuOf(own);
  const [us] = await sequence(client, nameOf, { count: 1 });
  const cpu = (cpuOf(own) - before) / 1000;
  await client.close();
  return { ms: us / 1000, cpu };
}
