import { connect, handshake, listTools } from '../client.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers } from '../variants.mjs';

export const title = 'Lazy start of 30 servers: from the spawn to the whole list, from what is remembered';
export const pinned = false;
const COUNT = 30;
const LEARNING_MS = 4000;
const FRESH = { name: '--fresh' };
const LAZY = { name: '--lazy' };

export async function run({ variants, quick }) {
  const weir = variants.find(({ name }) => name === 'weir');
  const servers = benchServers(COUNT);
  // One config and one state folder for all starts, the first of which learns what there is. It lives as long as
  // the command needs to leave its compiled form, from which all others of either kind are started.
  const command = weir.command(servers);
  await start(() => connect([...command, LAZY.name]), LEARNING_MS);
  const rounds = await inRounds(
    [FRESH, LAZY],
    { rounds: quick ? 3 : 9, seconds: quick ? 4 : 20, warmUp: 1 },
    (item) => start(() => connect([...command, item.name])),
  );
  const rows = [FRESH, LAZY].map(({ name }) => [name, middle(rounds, name), ratio(rounds, name, FRESH.name)]);
  return {
    tables: [{ columns: ['', 'ms', '× fresh'], rows, note: `${rounds.length} rounds` }],
    figures: { 'lazy ÷ fresh': ratio(rounds, LAZY.name, FRESH.name) },
  };
}

async function start(spawn, stayMs = 0) {
  const started = performance.now();
  const client = spawn();
  await handshake(client);
  const tools = await listTools(client);
  const ms = performance.now() - started;
  if (tools.length !== COUNT * 10) throw new Error(`${tools.length} tools are listed`);
  await new Promise((resolve) => setTimeout(resolve, stayMs));
  await client.close();
  return ms;
}
