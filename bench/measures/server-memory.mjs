import { contestants, OURS, SDK_SESSIONS } from '../server/contestants.mjs';
import { callTools, reachHttp, startHttp } from '../server/sites.mjs';
import { inRounds, middle } from '../statistics.mjs';

export const title =
  'Libraries for servers: memory of 1,000 legacy sessions, each with a call, a connection and its event stream';
export const pinned = false;
const SESSIONS = 1000;
/** fastmcp takes a second for a handshake, most of which it waits. */
const AT_ONCE = 100;
const MB = 1e6;

export async function run({ quick }) {
  // The others keep nothing between two requests.
  const all = contestants({ quick }).filter(
    ({ name }) => name === OURS || (!quick && [SDK_SESSIONS, 'fastmcp'].includes(name)),
  );
  const rounds = await inRounds(all, { rounds: quick ? 1 : 3, seconds: quick ? 10 : 150 }, visit);
  const rows = all.map(({ name }) => [
    name,
    middle(rounds, name, (r) => r.sessions),
    middle(rounds, name, (r) => r.streams),
    middle(rounds, name, (r) => r.before),
    middle(rounds, name, (r) => r.grown),
    middle(rounds, name, (r) => r.heap),
    rounds.map((round) => round[name].grown.toFixed(1)).join(', '),
  ]);
  const columns = [
    '',
    'sessions',
    'open streams',
    'MB before',
    'grown by MB',
    'heap grown by MB',
    'every round',
  ];
  return {
    tables: [
      {
        columns,
        rows,
        note: `${rounds.length} rounds`,
      },
    ],
    figures: { 'grown by MB at 1,000 sessions': middle(rounds, OURS, (r) => r.grown) },
    rounds,
  };
}

async function visit(contestant) {
  const site = await startHttp(contestant, { watched: true });
  const before = await site.memory();
  const clients = [];
  let next = 0;
  const work = async () => {
    while (next < SESSIONS) clients.push(await openSession(site, next++));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const after = await site.memory();
  await site.close();
  const distinct = new Set(clients.flatMap(({ client }) => client.session ?? []));
  return {
    sessions: distinct.size,
    streams: clients.filter(({ hasStream }) => hasStream).length,
    before: before.rss / MB,
    grown: (after.rss - before.rss) / MB,
    heap: (after.heapUsed - before.heapUsed) / MB,
  };
}

/** As a client of that era does: initialize, initialized, the stream where the server has one, a call; nothing is closed. */
async function openSession(site, index) {
  const client = await reachHttp(site, 'legacy');
  const opened = { client, hasStream: false };
  // Not awaited: some servers send not even a header before the first event.
  if (client.session !== undefined)
    client.listen().then(
      () => (opened.hasStream = true),
      () => {},
    );
  await callTools(client, { count: 1, from: index });
  return opened;
}
