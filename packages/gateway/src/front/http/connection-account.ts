import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Holding, type Account, type Accounts } from '../../wire/account.ts';
import { Flow, turns } from '../../wire/turns.ts';

interface ClientConnection {
  readonly account: Account;
  /** Bytes of responses that the client has not read. */
  readonly unread: Holding;
  flow: Flow;
}

const CONNECTIONS = new WeakMap<Duplex, ClientConnection>();

/** Opens the account of a connection, which stands for a client on HTTP. Over its ceiling the connection is closed. */
export function openAccount(socket: Duplex, accounts: Accounts, exceeded: (reason: string) => void): void {
  const account = accounts.open((reason) => {
    exceeded(reason);
    socket.destroy();
  });
  const unread = new Holding(account);
  CONNECTIONS.set(socket, { account, unread, flow: new Flow(true) });
  socket.on('drain', () => {
    unread.bytes = 0;
  });
  socket.once('close', () => account.close());
}

/** Returns the account of a connection. */
export function accountOf(socket: Duplex): Account {
  return stateOf(socket).account;
}

/** Returns the share of a connection in the turns of the event loop. */
export function flowOf(socket: Duplex): Flow {
  return stateOf(socket).flow;
}

/** The share of all newcomers together. */
const NEWCOMERS = new Flow();

/** Makes a connection one of those that have the share of one busy client together, until it is answered or floods. */
export function shareWithNewcomers(socket: Duplex): void {
  stateOf(socket).flow = NEWCOMERS;
  turns.makeBusy(NEWCOMERS);
}

/** Gives a newcomer a share of its own. */
export function giveOwnShare(socket: Duplex): void {
  const opened = stateOf(socket);
  if (opened.flow === NEWCOMERS) opened.flow = new Flow(true);
}

/** Makes a connection a flood, which other newcomers must not become because of it. */
export function makeFlood(socket: Duplex): void {
  giveOwnShare(socket);
  turns.makeFlood(flowOf(socket));
}

/** Charges what a client has not read of a response. Called after each write; costs nothing where the socket took all of it. */
export function chargeUnread(res: ServerResponse): void {
  const { socket } = res.req;
  if (socket.writableNeedDrain) stateOf(socket).unread.bytes = res.writableLength;
}

function stateOf(socket: Duplex): ClientConnection {
  const opened = CONNECTIONS.get(socket);
  if (opened === undefined) throw new Error('The connection has no account');
  return opened;
}
