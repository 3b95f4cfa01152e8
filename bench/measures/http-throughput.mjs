import { burst, warmUp } from '../client.mjs';
import { startRows, tablesOf } from '../http-rows.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';

export const title = 'HTTP, throughput: 64 calls in flight';
export const pinned = true;
export const withPeer = true;
const COUNT = 640;

export async function run({ quick, ...options }) {
  const { running, close } = await startRows({ quick, ...options });
  await warmUp(running, quick ? 2000 : 3000);
  const rounds = await inRounds(running, { rounds: quick ? 12 : 40, seconds: quick ? 6 : 60 }, visit);
  await close();
  return { tables: tables(running, rounds), figures: figures(rounds) };
}

async function visit({ client, own, all, nameOf }) {
  const before = [cpuOf(own), cpuOf(all)];
  const ms = await burst(client, nameOf, { count: COUNT, inFlight: 64 });
  const [cpu, allCpu] = [cpuOf(own) - before[0], cpuOf(all) - before[1]].map((used) => used / COUNT);
  return { perSecond: (COUNT / ms) * 1000, cpu, allCpu };
}

function tables(running, rounds) {
  const columns = ['calls/s', '× SDK server', 'CPU µs per call', 'CPU × SDK server', 'of the gateway'];
  const [first, ...others] = tablesOf(running, columns, (name, base) => [
    middle(rounds, name, (r) => r.perSecond),
    ratio(rounds, name, base, (r) => r.perSecond),
    middle(rounds, name, (r) => r.allCpu),
    ratio(rounds, name, base, (r) => r.allCpu),
    middle(rounds, name, (r) => r.cpu) || undefined,
  ]);
  return [first, ...others.map((table) => ({ ...table, note: `${rounds.length} rounds of ${COUNT} calls` }))];
}

function figures(rounds) {
  const perSecond = (result) => result.perSecond;
  const cpu = (result) => result.allCpu;
  return {
    'calls/s ÷ SDK server': ratio(rounds, 'weir → stdio', 'sdk server', perSecond),
    'calls/s with sessions ÷ SDK server': ratio(
      rounds,
      'weir → stdio, sessions',
      'sdk server, sessions',
      perSecond,
    ),
    'CPU per call ÷ SDK server': ratio(rounds, 'weir → stdio', 'sdk server', cpu),
    'calls/s to the SDK server ÷ direct': ratio(rounds, 'weir → sdk server', 'sdk server', perSecond),
  };
}
