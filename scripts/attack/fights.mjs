// @ts-check
// The hostile cases at full size, each against `weir serve` beside honest peers, by the numbers of cases.mjs.
import { fixture } from '../chaos/subjects.mjs';

/** @typedef {import('./arena.mjs').Peers} Peers */
/** @typedef {{ title: string; numbers: readonly string[]; peers: Peers }} Fight */

/**
 * @param {string} title
 * @param {string} numbers
 * @param {Omit<Peers, 'clients'> & { clients?: readonly string[] }} peers
 * @returns {Fight}
 */
function attack(title, numbers, { clients = [], ...peers }) {
  return { title, numbers: numbers.split(' '), peers: { ...peers, clients: clients.map(hostileClient) } };
}

/** @param {string} mode */
function hostileClient(mode) {
  return ['hostile-client.mjs', mode];
}

const ownServer = { ...fixture('echo'), sharing: 'per-session' };

/** @type {readonly Fight[]} */
export const FIGHTS = [
  attack('subscriptions to 8,000 URIs, opened and closed', 'H1', { clients: ['listens'] }),
  attack('batches of 2 MB from a server', 'H2', { servers: ['batches'] }),
  attack('pings with long ids whose answers are not read', 'H3', { servers: ['pings'] }),
  attack('a list of 5 MB pages without end', 'H4 28', { servers: ['lists'] }),
  attack('bytes that are not text', 'H5', { servers: ['bytes'] }),
  attack('2,000 new names with each list, and calls of unknown names', 'H6', {
    servers: ['names'],
    clients: ['names'],
  }),
  attack('100,000 requests behind a stream, then a hang-up', 'M3', { clients: ['pipelines'] }),
  attack('lists that change with every reading', 'M4 21', { servers: ['changes'] }),
  attack('errors of 3 MB that are not read', 'M5 L3', { clients: ['unread'] }),
  attack('errors of 4 MB from a server', 'M6', { servers: ['errors'], clients: ['failures'] }),
  attack('calls and notifications to a server that does not read', 'M7', {
    servers: ['deaf'],
    clients: ['notices'],
  }),
  attack('sessions that are left, each with a process of its own', 'M9', {
    clients: ['sessions'],
    entries: { own: ownServer },
  }),
  attack('unasked questions without end', 'L10 38', { servers: ['questions'] }),
  attack('notifications, answers and progress without end', '9 41', { servers: ['news'] }),
  attack('noise on stdout and stderr', '9 10', { servers: ['noise'] }),
  attack('batches of 1,000 requests from a client', '58', { clients: ['batches'] }),
  attack('lists that are not read, on 50 connections', 'M5', { clients: ['lists'] }),
  attack('calls whose client hangs up at once', '61', { clients: ['hang-ups'] }),
  attack('half a request on each of 100 connections', '57', { clients: ['halves'] }),
];

/** Five hostile servers and five hostile clients beside ten honest ones of each. */
export const SIEGE = attack(
  'five hostile servers and five hostile clients at once',
  'H2 H3 H4 H5 M4 M3 M5 H1 M9',
  {
    servers: ['batches', 'pings', 'lists', 'changes', 'bytes'],
    clients: ['pipelines', 'lists', 'listens', 'sessions', 'unread'],
    entries: { own: ownServer },
    honest: 10,
  },
);
