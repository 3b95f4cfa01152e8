import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Gateway } from '../gateway/gateway.ts';
import { isRecord } from '../wire/json/value-checks.ts';
import {
  answersOf,
  FOLLOWED,
  type Answering,
  type FollowedMethod,
  type ControlMethod,
} from './control-requests.ts';
import { readLines, writeLine } from './json-lines.ts';
import { isAnswering } from './socket-client.ts';
import {
  socketPathOf,
  socketPathsIn,
  removeStale,
  type SocketPath,
  type SocketLocation,
} from './socket-paths.ts';

/** Characters of a request: method, server key and a few options need far fewer. */
const LONGEST_REQUEST = 64 * 1024;
/** Time for a connection to bring its request, in milliseconds. */
const REQUEST_WITHIN_MS = 10_000;
/** Commands of one user that ask or follow at the same time. */
const MOST_CONNECTIONS = 100;
/** Bytes that a follower may leave unread before the gateway disconnects it. */
const LARGEST_BACKLOG = 4 * 1024 * 1024;

export interface Control {
  readonly path: string;
  close(): Promise<void>;
}

/** Opens the control socket of a gateway; undefined where there is no folder for it. */
export async function openControl(
  answering: Answering,
  location: SocketLocation,
): Promise<Control | undefined> {
  const socketPath = socketPathOf(answering.info.pid, location);
  if (socketPath === undefined) return undefined;
  await sweep(location, socketPath);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    converse(socket, answering);
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, socketPath, location);
  return {
    path: socketPath.path,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Removes the sockets of killed gateways. A socket with our own process id is stale, too. */
async function sweep(location: SocketLocation, own: SocketPath): Promise<void> {
  await Promise.all(
    socketPathsIn(location).map(async (socketPath) => {
      if (await isAnswering(socketPath)) return;
      if (socketPath.path === own.path && location.platform !== 'win32')
        rmSync(socketPath.path, { force: true });
      else removeStale(socketPath, location.platform);
    }),
  );
}

async function listen(server: Server, { path }: SocketPath, { platform }: SocketLocation): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // Stays: an error after the start must not end the gateway.
    server.on('error', reject).listen(path, resolve);
  });
  // The folder keeps other users out already; the mode is for tools that check the socket alone.
  if (platform !== 'win32') chmodSync(path, 0o600);
  server.unref();
}

/** Answers the one request of a connection. An error closes only that connection. */
function converse(socket: Socket, answering: Answering): void {
  const hangUp = (): void => void socket.destroy();
  const timer = setTimeout(hangUp, REQUEST_WITHIN_MS).unref();
  socket.on('error', hangUp).once('close', () => clearTimeout(timer));
  let isAsked = false;
  const receive = (value: unknown): void => {
    if (isAsked) throw new Error('A connection may send only one request');
    isAsked = true;
    clearTimeout(timer);
    answer(socket, readRequest(value), answering).catch(hangUp);
  };
  readLines(socket, receive, LONGEST_REQUEST);
}

interface Request {
  readonly id: string | number | null;
  readonly method: string;
  readonly params: object;
}

/** Returns a request whose members are of the types that are promised; throws where they are not. */
function readRequest(value: unknown): Request {
  if (!isRecord(value)) throw new Error('Not a valid request');
  const { id = null, method, params = {} } = value;
  const isId = id === null || typeof id === 'string' || typeof id === 'number';
  if (!isId || typeof method !== 'string' || !isRecord(params)) throw new Error('Not a valid request');
  const { server = '' } = params;
  if (typeof server !== 'string') throw new Error('"server" must be a string');
  return { id, method, params };
}

async function answer(socket: Socket, { id, method, params }: Request, answering: Answering): Promise<void> {
  const { gateway, info } = answering;
  try {
    const answers = answersOf(answering);
    if (!Object.hasOwn(answers, method))
      throw new Error(`A gateway of version ${info.version} does not know '${method}'`);
    const act = answers[method as ControlMethod] as (params: object) => unknown;
    writeLine(socket, { id, result: await act(params) });
    if (Object.hasOwn(FOLLOWED, method) && 'follow' in params && params.follow === true)
      follow(socket, gateway, method as FollowedMethod, params as { server?: string });
  } catch (error) {
    writeLine(socket, { id, error: { message: (error as Error).message } });
  }
}

/** Sends the events that belong to a request until the connection closes. */
function follow(
  socket: Socket,
  gateway: Gateway,
  method: FollowedMethod,
  { server }: { readonly server?: string },
): void {
  const unsubscribe = gateway.subscribe((event) => {
    if (event.type === 'server-log' && event.serverKey !== server) return;
    writeLine(socket, { method: 'event', params: event });
    if (socket.writableLength > LARGEST_BACKLOG) socket.destroy();
  }, FOLLOWED[method]);
  socket.once('close', unsubscribe);
}
