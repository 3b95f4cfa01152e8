import { listTools } from '../client.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers, closeAll } from '../variants.mjs';

export const title = 'tools/list, all pages, parsed by the client';
export const pinned = true;
const SHAPES = [
  { name: '500 tools of 10 servers', servers: benchServers(10, { tools: 50 }), tools: 500 },
  { name: '10,000 tools of 1 server', servers: benchServers(1, { tools: 10_000 }), tools: 10_000 },
];

export async function run({ variants, quick }) {
  const tables = [];
  const figures = {};
  for (const shape of SHAPES) {
    const rounds = await measure(shape, variants, quick);
    tables.push(table(shape, variants, rounds));
    figures[`${shape.tools} tools: CPU ÷ SDK aggregator`] = ratio(
      rounds,
      'weir',
      'sdk aggregator',
      (r) => r.cpu,
    );
    figures[`${shape.tools} tools: ms ÷ SDK aggregator`] = ratio(
      rounds,
      'weir',
      'sdk aggregator',
      (r) => r.ms,
    );
  }
  return { tables, figures };
}

async function measure({ servers, tools }, variants, quick) {
  const able = variants.filter(({ single }) => !single || Object.keys(servers).length === 1);
  const running = await Promise.all(able.map((variant) => variant.start(servers)));
  for (const each of running)
    if (each.tools.length !== tools)
      throw new Error(`${each.name} lists ${each.tools.length} tools, not ${tools}`);
  const rounds = await inRounds(
    running,
    { rounds: quick ? 5 : 20, seconds: quick ? 2 : 8, warmUp: 1 },
    visit,
  );
  await closeAll(running);
  return rounds;
}

async function visit({ client, own }) {
  const before = cpuOf(own);
  const started = performance.now();
  await listTools(client);
  return { ms: performance.now() - started, cpu: (cpuOf(own) - before) / 1000 };
}

function table({ name: shape }, variants, rounds) {
  const rows = variants
    .filter(({ name }) => rounds[0][name] !== undefined)
    .map(({ name }) => [
      `${shape}, ${name}`,
      middle(rounds, name, (r) => r.ms),
      middle(rounds, name, (r) => r.cpu),
      ratio(rounds, name, 'sdk aggregator', (r) => r.cpu),
    ]);
  return { columns: ['', 'ms', 'CPU ms', 'CPU × SDK aggregator'], rows };
}
