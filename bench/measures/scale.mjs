import { burst, warmUp } from '../client.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers, closeAll } from '../variants.mjs';

export const title = 'CPU per call with 10 and with 10,000 tools, and in a group of 10 of them';
export const pinned = true;
const COUNT = 3840;

export async function run({ variants, quick }) {
  const able = variants.filter(({ name }) => name === 'weir' || (!quick && name === 'sdk aggregator'));
  const running = (await Promise.all(able.map(startBoth))).flat();
  await warmUp(running);
  const rounds = await inRounds(running, { rounds: quick ? 30 : 60, seconds: quick ? 6 : 25 }, visit);
  await closeAll(running);
  const rows = running.map(({ name }) => [name, middle(rounds, name)]);
  return {
    tables: [{ columns: ['', 'CPU µs per call'], rows, note: `${rounds.length} rounds of ${COUNT} calls` }],
    figures: {
      'CPU at 10,000 tools ÷ at 10': ratio(rounds, 'weir, 10,000 tools', 'weir, 10 tools'),
      'CPU at 10,000 tools, all called ÷ at 10': ratio(
        rounds,
        'weir, 10,000 tools, all called',
        'weir, 10 tools',
      ),
      'CPU in a group of 10 of 10,000 ÷ at 10': ratio(rounds, 'weir, 10 of 10,000 tools', 'weir, 10 tools'),
    },
  };
}

/** Ten tools are called in either case, so that the size of the catalogue is all that differs; a third row calls them all. */
async function startBoth(variant) {
  const few = await variant.start(benchServers(1, { tools: 10 }));
  const many = await variant.start(benchServers(1, { tools: 10_000 }));
  const spread = many.tools.filter((_, i) => i % 1000 === 999).map(({ name }) => name);
  const grouped = variant.name === 'weir' ? [await startGroup(variant, spread)] : [];
  return [
    ...grouped,
    { ...few, name: `${variant.name}, 10 tools` },
    { ...many, name: `${variant.name}, 10,000 tools`, nameOf: (call) => spread[call % spread.length] },
    { ...many, name: `${variant.name}, 10,000 tools, all called` },
  ];
}

/** The same ten tools, in a group that has no others. */
async function startGroup(variant, spread) {
  const patterns = spread.map((name) => name.replace(variant.prefix, 's0:'));
  const group = await variant.start(benchServers(1, { tools: 10_000 }), patterns);
  if (group.tools.length !== spread.length) throw new Error(`The group lists ${group.tools.length} tools`);
  return {
    ...group,
    name: `${variant.name}, 10 of 10,000 tools`,
    nameOf: (call) => spread[call % spread.length],
  };
}

async function visit({ client, own, nameOf }) {
  const before = cpuOf(own);
  await burst(client, nameOf, { count: COUNT, inFlight: 64 });
  return (cpuOf(own) - before) / COUNT;
}
