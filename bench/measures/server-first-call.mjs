import { cpuOf } from '../processes.mjs';
import { contestants, OURS, SDK_SESSIONS } from '../server/contestants.mjs';
import { callTools, reachHttp, startHttp, startStdio } from '../server/sites.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';

export const title =
  'Libraries for servers: from the spawn to the first answered call, 100 schemas against one plain tool';
export const pinned = true;
const PLAIN = { shape: 'one plain tool', tools: 1, plain: true };
const MANY = { shape: '100 schemas', tools: 100, plain: false };
const TRANSPORTS = ['stdio', 'HTTP'];

export async function run({ quick }) {
  const all = contestants({ quick }).filter(({ name }) => name !== SDK_SESSIONS && (!quick || name === OURS));
  const items = TRANSPORTS.flatMap((transport) =>
    all.flatMap((contestant) =>
      [PLAIN, MANY].map((shape) => ({
        name: itemName(contestant.name, transport, shape),
        contestant,
        transport,
        shape,
      })),
    ),
  );
  const rounds = await inRounds(items, { rounds: quick ? 3 : 9, seconds: quick ? 3 : 150 }, visit);
  const tables = TRANSPORTS.map((transport) => table(rounds, all, transport));
  return { tables: [...tables, everyRound(rounds)], figures: figures(rounds), rounds };
}

const itemName = (name, transport, { shape }) => `${name}, ${transport}, ${shape}`;

/** In the newest era that the contestant speaks; the handshake, where there is one, is part of it. */
async function visit({ contestant, transport, shape }) {
  const [era] = contestant.eras;
  const started = performance.now();
  const { pid, client, close } = await (transport === 'stdio' ? onStdio : onHttp)(contestant, era, shape);
  const before = { cpu: cpuOf([pid]), at: performance.now() };
  await callTools(client, { ...shape, count: 1 });
  const cpu = cpuOf([pid]);
  const ended = performance.now();
  await close();
  return {
    ms: ended - started,
    cpu: cpu / 1000,
    callMs: ended - before.at,
    callCpu: (cpu - before.cpu) / 1000,
  };
}

async function onStdio(contestant, era, shape) {
  const client = await startStdio(contestant, era, shape);
  return { pid: client.pid, client, close: client.close };
}

async function onHttp(contestant, era, shape) {
  const site = await startHttp(contestant, shape);
  const client = await reachHttp(site, era);
  return { pid: site.pid, client, close: site.close };
}

const KINDS = [
  { title: 'ms', of: (r) => r.ms },
  { title: 'CPU ms', of: (r) => r.cpu },
  { title: 'ms of the call', of: (r) => r.callMs },
  { title: 'CPU ms of the call', of: (r) => r.callCpu },
];

function table(rounds, all, transport) {
  const rows = all.flatMap(({ name }) =>
    [PLAIN, MANY].map((shape) => [
      `${name}, ${shape.shape}`,
      ...KINDS.map(({ of }) => middle(rounds, itemName(name, transport, shape), of)),
      shape === MANY ? growth(rounds, { name, transport, of: KINDS[1].of }) : undefined,
    ]),
  );
  const columns = [transport, ...KINDS.map((kind) => kind.title), 'CPU × one plain tool'];
  return { columns, rows, note: `${rounds.length} rounds` };
}

function growth(rounds, { name, transport, of }) {
  return ratio(rounds, itemName(name, transport, MANY), itemName(name, transport, PLAIN), of);
}

function everyRound(rounds) {
  const rows = rounds.map((round, index) => [
    `round ${index + 1}`,
    ...TRANSPORTS.map((transport) => growth([round], { name: OURS, transport, of: KINDS[1].of })),
  ]);
  return { columns: [`${OURS}, CPU, 100 schemas × one plain tool`, ...TRANSPORTS], rows };
}

function figures(rounds) {
  const found = {};
  for (const transport of TRANSPORTS)
    for (const { title: kind, of } of KINDS)
      found[`${transport}, ${kind}, 100 schemas ÷ one plain tool`] = growth(rounds, {
        name: OURS,
        transport,
        of,
      });
  return found;
}
