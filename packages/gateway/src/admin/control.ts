import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { isAnswering } from './control-client.ts';
import { doorOf, doorsIn, removeStale, type Door, type Place } from './control-folder.ts';
import { readLines, writeLine } from './lines.ts';
import { answersOf, type Answering, type Method } from './requests.ts';

/** The longest request that anybody has reason for. */
const LONGEST_REQUEST = 64 * 1024;
/** A follower who does not read is left alone. */
const LARGEST_BACKLOG = 4 * 1024 * 1024;

export interface Control {
  readonly path: string;
  close(): Promise<void>;
}

/** Opens the door by which the owner of a gateway asks and tells it things; undefined where there is no place for one. */
export async function openControl(answering: Answering, place: Place): Promise<Control | undefined> {
  const door = doorOf(answering.self.pid, place);
  if (door === undefined) return undefined;
  await sweep(place, door);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    converse(socket, answering);
  });
  await listen(server, door, place);
  return {
    path: door.path,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Gateways that were killed leave their doors behind; one of our own number can only be such a one. */
async function sweep(place: Place, own: Door): Promise<void> {
  await Promise.all(
    doorsIn(place).map(async (door) => {
      if (await isAnswering(door)) return;
      if (door.path === own.path && place.platform !== 'win32') rmSync(door.path, { force: true });
      else removeStale(door, place.platform);
    }),
  );
}

async function listen(server: Server, { path }: Door, { platform }: Place): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, resolve);
  });
  // Nobody else gets into the folder; this is for those who look at the socket alone.
  if (platform !== 'win32') chmodSync(path, 0o600);
  server.unref();
}

function converse(socket: Socket, answering: Answering): void {
  socket.on('error', () => socket.destroy());
  const receive = (request: unknown): void => {
    if (typeof request !== 'object' || request === null) throw new Error('That is no request');
    void answer(socket, request, answering);
  };
  readLines(socket, receive, LONGEST_REQUEST);
}

interface Request {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: object;
}

async function answer(
  socket: Socket,
  { id = null, method, params = {} }: Request,
  answering: Answering,
): Promise<void> {
  const { gateway, self } = answering;
  try {
    const answers = answersOf(answering);
    if (typeof method !== 'string' || !Object.hasOwn(answers, method))
      throw new Error(`A gateway of version ${self.version} does not know '${String(method)}'`);
    const act = answers[method as Method] as (params: object) => unknown;
    writeLine(socket, { id, result: await act(params) });
    if (method === 'history' && 'follow' in params && params.follow === true) follow(socket, gateway);
  } catch (error) {
    writeLine(socket, { id, error: { message: (error as Error).message } });
  }
}

/** Tells of every call that ends, for as long as somebody listens. */
function follow(socket: Socket, { history }: Answering['gateway']): void {
  const unfollow = history.follow((call) => {
    writeLine(socket, { method: 'call', params: call });
    if (socket.writableLength > LARGEST_BACKLOG) socket.destroy();
  });
  socket.once('close', unfollow);
}
