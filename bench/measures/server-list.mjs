import { cpuOf } from '../processes.mjs';
import { contestants } from '../server/contestants.mjs';
import { figuresOf, rowName, tablesOf } from '../server/rows.mjs';
import { listAll, reachHttp, startHttp } from '../server/sites.mjs';
import { inRounds } from '../statistics.mjs';

export const title = 'Libraries for servers: tools/list of 100 and of 200 tools on HTTP';
export const pinned = true;
const SIZES = [100, 200];
const COUNT = 6;
const KINDS = SIZES.map((tools) => ({ title: `${tools} tools`, of: (r) => r[tools] }));

export async function run({ quick }) {
  const all = contestants({ quick });
  const rows = [];
  for (const contestant of all) rows.push(...(await rowsOf(contestant)));
  for (const row of rows) for (let i = 0; i < (quick ? 2 : 5); i++) await visit(row);
  const rounds = await inRounds(rows, { rounds: quick ? 3 : 12, seconds: quick ? 3 : 100 }, visit);
  await Promise.all(rows.flatMap(({ sites }) => sites.map((site) => site.close())));
  const names = all.map(({ name }) => name);
  const options = { kinds: KINDS, unit: 'CPU ms per list' };
  return { tables: tablesOf(rounds, names, options), figures: figuresOf(rounds, KINDS), rounds };
}

/** Each era of a contestant, with a process for each size. */
async function rowsOf(contestant) {
  const rows = contestant.eras.map((era) => ({
    name: rowName(contestant.name, era),
    era,
    sites: [],
    clients: [],
  }));
  for (const tools of SIZES) {
    const site = await startHttp(contestant, { tools });
    rows[0].sites.push(site);
    for (const row of rows)
      row.clients.push({ tools, pid: site.pid, client: await reachHttp(site, row.era) });
  }
  return rows;
}

async function visit({ clients }) {
  const used = {};
  for (const { tools, pid, client } of clients) {
    const start = cpuOf([pid]);
    for (let i = 0; i < COUNT; i++) await listAll(client, tools);
    used[tools] = (cpuOf([pid]) - start) / COUNT / 1000;
  }
  return used;
}
