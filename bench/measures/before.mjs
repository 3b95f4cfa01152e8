import { burst, sequence, warmUp } from '../client.mjs';
import { reach, startGateway } from '../http-variants.mjs';
import { cpuOf } from '../processes.mjs';
import { inRounds, median, middle, ratio } from '../statistics.mjs';
import { benchServers, closeAll, createVariants } from '../variants.mjs';

export const title = 'This build and the one before it, in the same rounds';
export const pinned = true;
/** Enough for the history to be written several times: with fewer calls, one build is measured with a write and the other without. */
const CALLS = 3600;
/** Calls until V8 compiles nothing more: what is compared is the code, not the time that it takes to compile it. */
const WARM_UP = 30_000;
/** Two processes of one build differ by some per cent for as long as they live: each pair is a fresh one. */
const PAIRS = 6;

export async function run({ variants, folder, gateway, before, quick }) {
  if (before === undefined) return { skipped: 'only with --before FILE' };
  const weir = variants.find(({ name }) => name === 'weir');
  const old = createVariants({ folder, gateway: before }).find(({ name }) => name === 'weir');
  const builds = [
    { name: 'weir', gateway, start: weir.start },
    { name: 'before', gateway: before, start: old.start },
  ];
  const rounds = { stdio: [], large: [], http: [] };
  for (let pair = 0; pair < (quick ? 1 : PAIRS); pair++) {
    await measureStdio(builds, rounds);
    await measureHttp(builds, rounds, folder);
  }
  return { tables: [table(rounds)], figures: figures(rounds) };
}

async function measureStdio(builds, rounds) {
  const running = [];
  for (const { name, start } of builds) running.push({ ...(await start(benchServers(1))), name });
  await warmUp(running, WARM_UP);
  rounds.stdio.push(...(await inRounds(running, { rounds: 6, seconds: 10 }, visit)));
  rounds.large.push(...(await inRounds(running, { rounds: 7, seconds: 10, warmUp: 2 }, visitLarge)));
  await closeAll(running);
}

async function measureHttp(builds, rounds, folder) {
  const sites = [];
  const running = [];
  for (const { name, gateway } of builds) {
    const site = await startGateway(benchServers(1), { folder, gateway });
    sites.push(site);
    running.push(await reach(site, { name, era: 'modern', isGateway: true }));
  }
  await warmUp(running, WARM_UP);
  rounds.http.push(...(await inRounds(running, { rounds: 4, seconds: 10 }, visit)));
  await Promise.all(sites.map((site) => site.close()));
}

async function visit({ client, own, nameOf }) {
  const start = cpuOf(own);
  const times = await sequence(client, nameOf, { count: CALLS });
  const middleCpu = cpuOf(own);
  await burst(client, nameOf, { count: CALLS, inFlight: 64 });
  return {
    p50: median(times),
    cpu: (middleCpu - start) / CALLS,
    burstCpu: (cpuOf(own) - middleCpu) / CALLS,
  };
}

async function visitLarge({ client, own, nameOf }) {
  const start = cpuOf(own);
  const [us] = await sequence(client, nameOf, { count: 1, args: { bytes: 10e6 } });
  return { ms: us / 1000, cpu: (cpuOf(own) - start) / 1000 };
}

const FIGURES = [
  { figure: 'p50, 64 bytes', unit: 'µs', kind: 'stdio', of: (r) => r.p50 },
  { figure: 'CPU per call, one after the other', unit: 'µs', kind: 'stdio', of: (r) => r.cpu },
  { figure: 'CPU per call, 64 in flight', unit: 'µs', kind: 'stdio', of: (r) => r.burstCpu },
  { figure: '10 MB', unit: 'ms', kind: 'large', of: (r) => r.ms },
  { figure: 'CPU of 10 MB', unit: 'ms', kind: 'large', of: (r) => r.cpu },
  { figure: 'HTTP p50', unit: 'µs', kind: 'http', of: (r) => r.p50 },
  { figure: 'HTTP CPU per call, one after the other', unit: 'µs', kind: 'http', of: (r) => r.cpu },
  { figure: 'HTTP CPU per call, 64 in flight', unit: 'µs', kind: 'http', of: (r) => r.burstCpu },
];

function table(rounds) {
  const rows = FIGURES.map(({ figure, unit, kind, of }) => [
    `${figure}, ${unit}`,
    middle(rounds[kind], 'weir', of),
    middle(rounds[kind], 'before', of),
    ratio(rounds[kind], 'weir', 'before', of),
  ]);
  return { columns: ['', 'weir', 'before', '×'], rows, note: `${rounds.stdio.length} rounds` };
}

function figures(rounds) {
  return Object.fromEntries(
    FIGURES.map(({ figure, kind, of }) => [`${figure} ÷ before`, ratio(rounds[kind], 'weir', 'before', of)]),
  );
}
