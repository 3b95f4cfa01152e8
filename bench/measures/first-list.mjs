import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, handshake, listTools } from '../client.mjs';
import { inRounds, median, middle, ratio } from '../statistics.mjs';
import { benchServers } from '../variants.mjs';

export const title =
  'First list of a second start: from the spawn to the whole list, all servers remembered and started (not lazy)';
export const pinned = false;
const TOOLS = 300;
/** Long enough for the gateway to write what it has learnt, and the compiled form of itself. */
const LEARNING_MS = 4000;
/** A bare start is short: the median of several is one visit. */
const BARE_STARTS = 5;
const BARE = { name: 'node -e 0' };
const FEW = { name: '5 servers', count: 5 };
const MANY = { name: '30 servers', count: 30 };

export async function run({ variants, quick }) {
  const weir = variants.find(({ name }) => name === 'weir');
  const items = [BARE, FEW, MANY];
  for (const item of [FEW, MANY]) {
    // One config for all starts of an item, the first of which learns what there is.
    item.command = weir.command(benchServers(item.count, { tools: TOOLS / item.count }));
    await firstList(item.command, LEARNING_MS);
  }
  const rounds = await inRounds(
    items,
    { rounds: quick ? 9 : 21, seconds: quick ? 15 : 40, warmUp: 1 },
    (item) => (item === BARE ? bareNode() : firstList(item.command)),
  );
  const rows = items.map(({ name }) => [name, middle(rounds, name), ratio(rounds, name, BARE.name)]);
  return {
    tables: [{ columns: ['', 'ms', '× node -e 0'], rows, note: `${TOOLS} tools, ${rounds.length} rounds` }],
    figures: {
      '30 servers ÷ node -e 0': ratio(rounds, MANY.name, BARE.name),
      '30 servers ÷ 5 servers': ratio(rounds, MANY.name, FEW.name),
    },
  };
}

async function firstList(command, stayMs = 0) {
  const started = performance.now();
  const client = connect(command);
  await handshake(client);
  const tools = await listTools(client);
  const ms = performance.now() - started;
  if (tools.length !== TOOLS) throw new Error(`${tools.length} tools are listed`);
  await new Promise((resolve) => setTimeout(resolve, stayMs));
  await client.close();
  return ms;
}

async function bareNode() {
  const times = [];
  for (let i = 0; i < BARE_STARTS; i++) {
    const started = performance.now();
    await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
    times.push(performance.now() - started);
  }
  return median(times);
}
