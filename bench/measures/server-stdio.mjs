import { cpuOf } from '../processes.mjs';
import { contestants, SDK_INSIDE } from '../server/contestants.mjs';
import { figuresOf, rowName, tablesOf } from '../server/rows.mjs';
import { callTools, startStdio } from '../server/sites.mjs';
import { inRounds } from '../statistics.mjs';

export const title = 'Libraries for servers, on stdio: 100 tools with output schemas';
export const pinned = true;
const COUNT = 480;
/** Two processes of the same code differ by some per cent for as long as they live: each set is a fresh one. */
const SETS = 2;
const KINDS = [
  { title: 'one at a time', of: (r) => r.one },
  { title: '16 in flight', of: (r) => r.many },
];

export async function run({ quick }) {
  // A connection is one server: it makes no difference where its schemas are made.
  const all = contestants({ quick }).filter(({ name, onlyHttp }) => name !== SDK_INSIDE && !onlyHttp);
  const rounds = [];
  for (let set = 0; set < (quick ? 1 : SETS); set++) {
    const rows = await startAll(set % 2 === 0 ? all : all.toReversed());
    for (const { client } of rows) await callTools(client, { count: quick ? 1000 : 4000, inFlight: 16 });
    rounds.push(...(await inRounds(rows, { rounds: quick ? 5 : 8, seconds: quick ? 3 : 40 }, visit)));
    await Promise.all(rows.map(({ client }) => client.close()));
  }
  const names = all.map(({ name }) => name);
  const options = { kinds: KINDS, unit: 'CPU µs per call' };
  return { tables: tablesOf(rounds, names, options), figures: figuresOf(rounds, KINDS), rounds };
}

async function startAll(all) {
  const rows = [];
  for (const contestant of all)
    for (const era of contestant.eras)
      rows.push({ name: rowName(contestant.name, era), client: await startStdio(contestant, era) });
  return rows;
}

async function visit({ client }) {
  const start = cpuOf([client.pid]);
  await callTools(client, { count: COUNT });
  const middle = cpuOf([client.pid]);
  await callTools(client, { count: COUNT, inFlight: 16, from: COUNT });
  return { one: (middle - start) / COUNT, many: (cpuOf([client.pid]) - middle) / COUNT };
}
