import { burst, warmUp } from '../client.mjs';
import { reach, sessionClient, startGateway } from '../http-variants.mjs';
import { allProcesses, cpuOf } from '../processes.mjs';
import { inRounds, middle, ratio } from '../statistics.mjs';
import { benchServers } from '../variants.mjs';

export const title = 'HTTP: CPU per call of the gateway with many tools and with many sessions';
export const pinned = true;
export const withPeer = true;
const COUNT = 960;
const SESSIONS = 500;
const FEW_SESSIONS = 25;
const CROWDED = `${SESSIONS} sessions`;
// The same code in two processes differs by some per cent, by how they were compiled and where they lie in memory.
const TWINS = 2;

export async function run({ folder, gateway, peers, quick }) {
  const sites = [];
  const start = async (tools) => {
    const site = await startGateway(benchServers(1, { tools }), { folder, gateway });
    sites.push(site);
    return site;
  };
  const rows = [
    await twins('10 tools', async () => [await reachModern(await start(10))]),
    ...(await catalogueRows(start)),
    await twins('1 session', async () => [await openSession(await start(10))]),
    ...(await crowdRows(start)),
  ]
    .flat()
    .filter(({ name }) => !quick || !name.includes(' all '));
  await warmUp(
    rows.flatMap(({ parts }) => parts),
    quick ? 1500 : 4000,
  );
  const rounds = await inRounds(rows, { rounds: quick ? 20 : 60, seconds: quick ? 10 : 40 }, visit);
  const counts = Object.fromEntries(rows.map(({ name, parts }) => [name, processesOf(parts[0])]));
  await Promise.all(sites.map((site) => site.close()));
  const tables = [mainTable(rows, rounds, counts)];
  if (peers.length > 0) tables.push(await peerTable(peers, counts));
  return { tables, figures: figures(rounds, counts) };
}

/** A row of several gateways; `open` gives the clients of one of them, one for each of the names. */
async function twins(names, open) {
  const rows = [names].flat().map((name) => ({ name, parts: [] }));
  for (let twin = 0; twin < TWINS; twin++)
    for (const [i, part] of (await open()).entries()) rows[i].parts.push(part);
  return rows;
}

/** Ten tools are called here too, so that the size of the catalogue is all that differs; a further row calls them all. */
function catalogueRows(start) {
  return twins(['10,000 tools', '10,000 tools, all called'], async () => {
    const all = await reachModern(await start(10_000));
    const spread = all.tools.filter((_, i) => i % 1000 === 999).map(({ name }) => name);
    return [{ ...all, nameOf: (call) => spread[call % spread.length] }, all];
  });
}

/** One session is used here too, and each has its stream open; a further row uses them all. */
function crowdRows(start) {
  return twins([CROWDED, `${CROWDED}, all used`], async () => {
    const site = await start(10);
    const others = [];
    while (others.length < SESSIONS - 1) others.push(await idleSession(site));
    const among = await openSession(site);
    const everywhere = await reach(site, { isGateway: true });
    everywhere.client.useSessions([among.client.session, ...others]);
    return [among, everywhere];
  });
}

async function reachModern(site) {
  return { ...(await reach(site, { era: 'modern', isGateway: true })), site };
}

async function openSession(site) {
  const row = await reach(site, { isGateway: true });
  await row.client.listen();
  return { ...row, site };
}

async function idleSession(site) {
  const client = await sessionClient(site);
  await client.listen();
  client.disconnect();
  return client.session;
}

async function visit({ parts }) {
  let cpu = 0;
  for (const { client, own, nameOf } of parts) {
    const before = cpuOf(own);
    await burst(client, nameOf, { count: COUNT, inFlight: 64 });
    cpu += cpuOf(own) - before;
  }
  return cpu / (COUNT * parts.length);
}

const processesOf = ({ site }) => site && allProcesses(site.pid, site.mark).length;

function mainTable(rows, rounds, counts) {
  const note = `${rounds.length} rounds of ${COUNT} calls to each of ${TWINS} gateways; processes: gateway, guard and server`;
  const cells = rows.map(({ name }) => [name, middle(rounds, name), counts[name]]);
  return { columns: ['', 'CPU µs per call', 'processes'], rows: cells, note };
}

/** Not all peers could hold as many sessions as we do: those that start processes for each would fill the machine. */
async function peerTable(peers, counts) {
  const rows = [['weir', counts['1 session'], counts[CROWDED], SESSIONS]];
  for (const peer of peers) {
    const { client, openSession: open, processes } = await peer.start(benchServers(1));
    const one = processes();
    const sessions = [];
    while (sessions.length < FEW_SESSIONS - 1) sessions.push(await open());
    rows.push([peer.name, one, processes(), FEW_SESSIONS]);
    for (const session of sessions) session.disconnect();
    await client.close();
  }
  return { columns: ['', 'processes with 1 session', 'with many', 'that is, sessions'], rows };
}

function figures(rounds, counts) {
  return {
    'CPU at 10,000 tools ÷ at 10': ratio(rounds, '10,000 tools', '10 tools'),
    [`CPU at ${SESSIONS} sessions ÷ at 1`]: ratio(rounds, CROWDED, '1 session'),
    [`processes at ${SESSIONS} sessions ÷ at 1`]: counts[CROWDED] / counts['1 session'],
  };
}
