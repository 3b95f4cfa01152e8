import { sequence, warmUp } from '../client.mjs';
import { startRows, tablesOf } from '../http-rows.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, median, middle, quantile, ratio } from '../statistics.mjs';

export const title = 'HTTP, latency: one call after the other, 64 bytes of result';
export const pinned = true;
export const withPeer = true;

export async function run({ quick, ...options }) {
  const { running, close } = await startRows({ quick, ...options });
  await warmUp(running, quick ? 1000 : 3000);
  const effort = { rounds: quick ? 12 : 40, seconds: quick ? 5 : 60 };
  const rounds = await inRounds(running, effort, (row) => visit(row, quick ? 100 : 200));
  await close();
  return { tables: tables(running, rounds), figures: figures(rounds) };
}

async function visit({ client, own, all, nameOf }, count) {
  const before = [cpuOf(own), cpuOf(all)];
  const times = await sequence(client, nameOf, { count });
  const [cpu, allCpu] = [cpuOf(own) - before[0], cpuOf(all) - before[1]].map((used) => used / count);
  return { p50: median(times), p99: quantile(times, 0.99), cpu, allCpu };
}

function tables(running, rounds) {
  const columns = ['p50 µs', 'p99 µs', 'p50 × SDK server', 'CPU µs per call', 'of the gateway'];
  const [first, ...others] = tablesOf(running, columns, (name, base) => [
    middle(rounds, name, (r) => r.p50),
    middle(rounds, name, (r) => r.p99),
    ratio(rounds, name, base, (r) => r.p50),
    middle(rounds, name, (r) => r.allCpu),
    middle(rounds, name, (r) => r.cpu) || undefined,
  ]);
  return [first, ...others.map((table) => ({ ...table, note: `${rounds.length} rounds` }))];
}

function figures(rounds) {
  const p50 = (result) => result.p50;
  return {
    'p50 ÷ SDK server': ratio(rounds, 'weir → stdio', 'sdk server', p50),
    'p50 with sessions ÷ SDK server': ratio(rounds, 'weir → stdio, sessions', 'sdk server, sessions', p50),
    // Two hops of HTTP, seen by the client that people have: a bare socket would leave out what they pay anyway.
    'p50 to the SDK server ÷ direct, by node:http': ratio(
      rounds,
      'weir → sdk server, by node:http',
      'sdk server, by node:http',
      p50,
    ),
    // Most of that hop is Node's own server and client; this is what the gateway adds to them.
    'p50 to the SDK server ÷ plain proxy, by node:http': ratio(
      rounds,
      'weir → sdk server, by node:http',
      'plain proxy → sdk server, by node:http',
      p50,
    ),
    'p50 to the SDK server ÷ direct': ratio(rounds, 'weir → sdk server', 'sdk server', p50),
    'p50 to the raw server ÷ direct': ratio(rounds, 'weir → raw server', 'raw server', p50),
  };
}
