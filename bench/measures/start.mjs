import { availableParallelism } from 'node:os';
import { connect, handshake, listTools } from '../client.mjs';
import { inRounds, median, middle, ratio } from '../statistics.mjs';
import { benchServers, spawnVariant } from '../variants.mjs';
import { boot } from './boot.mjs';

export const title = 'Start: from the spawn to the whole list';
export const pinned = false;
const FLOOR = { name: 'bare spawn' };
const OWN_BOOT = { name: 'own boot' };

export async function run({ variants, quick }) {
  const tables = [];
  const figures = {};
  for (const count of quick ? [10] : [10, 30]) {
    const rounds = await measure(count, variants, quick);
    tables.push(table(count, variants, rounds));
    figures[`${count} servers ÷ (bare spawn + own boot)`] = overFloor(rounds, 'weir');
  }
  return { tables, figures };
}

async function measure(count, variants, quick) {
  const weir = variants.find(({ name }) => name === 'weir');
  const items = [FLOOR, OWN_BOOT, ...variants.filter(({ single }) => !single)];
  const servers = benchServers(count);
  return inRounds(items, { rounds: quick ? 5 : 25, seconds: quick ? 4 : 45, warmUp: 1 }, async (item) => {
    if (item === FLOOR) return bareSpawn(Object.values(servers));
    if (item === OWN_BOOT) return (await boot(weir)).ms;
    return gatewayStart(item, servers);
  });
}

async function gatewayStart(variant, servers) {
  const started = performance.now();
  const { client } = spawnVariant(variant, servers);
  await handshake(client);
  const tools = await listTools(client);
  const ms = performance.now() - started;
  if (tools.length !== Object.keys(servers).length * 10)
    throw new Error(`${variant.name} lists ${tools.length} tools`);
  await client.close();
  return ms;
}

/** What a start costs without any gateway: 2 × cores servers at a time, each through handshake and list. */
async function bareSpawn(servers) {
  const waiting = [...servers];
  const clients = [];
  const started = performance.now();
  const worker = async () => {
    for (let server = waiting.shift(); server !== undefined; server = waiting.shift()) {
      const client = connect([server.command, ...server.args]);
      clients.push(client);
      await handshake(client);
      await listTools(client);
    }
  };
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, worker));
  const ms = performance.now() - started;
  await Promise.all(clients.map((client) => client.close()));
  return ms;
}

const overFloor = (rounds, name) =>
  median(rounds.map((round) => round[name] / (round[FLOOR.name] + round[OWN_BOOT.name])));

function table(count, variants, rounds) {
  const names = [
    FLOOR.name,
    OWN_BOOT.name,
    ...variants.filter(({ single }) => !single).map(({ name }) => name),
  ];
  const rows = names.map((name) => [
    `${count} servers, ${name}`,
    middle(rounds, name),
    ratio(rounds, name, FLOOR.name),
    overFloor(rounds, name),
  ]);
  return {
    columns: ['', 'ms', '× bare spawn', '× (bare spawn + own boot)'],
    rows,
    note: `${rounds.length} rounds`,
  };
}
