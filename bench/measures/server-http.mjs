import { cpuOf } from '../processes.mjs';
import { contestants } from '../server/contestants.mjs';
import { figuresOf, rowName, tablesOf } from '../server/rows.mjs';
import { callTools, reachHttp, startHttp } from '../server/sites.mjs';
import { inRounds } from '../statistics.mjs';

export const title = 'Libraries for servers, on HTTP: 100 tools with output schemas';
export const pinned = true;
const COUNT = 96;
const QUICK_COUNT = 64;
/** A few calls of a row that is slow say as much as many of a fast one. */
const FEW = 16;
/** Two processes of the same code differ by some per cent for as long as they live: each set is a fresh one. */
const SETS = 2;
const KINDS = [
  { title: 'one at a time', of: (r) => r.one },
  { title: '16 in flight', of: (r) => r.many },
];

export async function run({ quick }) {
  const all = contestants({ quick });
  const rounds = [];
  for (let set = 0; set < (quick ? 1 : SETS); set++) {
    // Alternately from the front and from the back, so that none is always the youngest process.
    const { rows, close } = await startAll(set % 2 === 0 ? all : all.toReversed(), quick);
    for (const row of rows) await callTools(row.client, { count: warmUp(row, quick), inFlight: 4 });
    rounds.push(...(await inRounds(rows, { rounds: quick ? 5 : 8, seconds: quick ? 2 : 50 }, visit)));
    await close();
  }
  const names = all.map(({ name }) => name);
  const options = { kinds: KINDS, unit: 'CPU µs per call' };
  return { tables: tablesOf(rounds, names, options), figures: figuresOf(rounds, KINDS), rounds };
}

/**
 * Calls until V8 has compiled the path of an era: after 250, compiling is most of what a fast server seems to cost.
 * Half as many do where each call registers all tools, and for the second era of a process, which shares most of the path.
 */
function warmUp({ isSlow, registersEachTime, isSecond }, quick) {
  const count = (quick ? 3000 : 5000) / (registersEachTime ? 2 : 1) / (isSecond ? 2 : 1);
  return isSlow ? 100 : count;
}

async function startAll(all, quick) {
  const sites = [];
  const rows = [];
  for (const contestant of all) {
    const site = await startHttp(contestant);
    sites.push(site);
    for (const [index, era] of contestant.eras.entries()) {
      const count = contestant.isSlow ? FEW : quick ? QUICK_COUNT : COUNT;
      const client = await reachHttp(site, era);
      const name = rowName(contestant.name, era);
      rows.push({ ...contestant, name, isSecond: index > 0, count, pid: site.pid, client });
    }
  }
  const close = async () => {
    for (const { client } of rows) client.disconnect();
    await Promise.all(sites.map((site) => site.close()));
  };
  return { rows, close };
}

async function visit({ client, pid, count }) {
  const start = cpuOf([pid]);
  await callTools(client, { count });
  const middle = cpuOf([pid]);
  await callTools(client, { count, inFlight: 16, from: count });
  return { one: (middle - start) / count, many: (cpuOf([pid]) - middle) / count };
}
