import { connect, type Socket } from 'node:net';
import { isAlive } from '@weir/server/internal';
import type { GatewayEvent } from '../gateway/events.ts';
import { now } from '../time/clock.ts';
import type { ControlRequests, FollowedMethod, GatewayReport, ControlMethod } from './control-requests.ts';
import { readLines, writeLine } from './json-lines.ts';
import { socketPathsIn, removeStale, type SocketPath, type SocketLocation } from './socket-paths.ts';

/** A gateway that does not answer so long is stopped, or drowned in work. */
const ANSWER_TIMEOUT_MS = 5000;

/** A gateway that runs. */
export interface FoundGateway {
  readonly socketPath: SocketPath;
  /** Undefined where it does not answer. */
  readonly report: GatewayReport | undefined;
}

/** All gateways of this user that run; what killed ones have left is cleared away. */
export async function findGateways(
  location: SocketLocation,
  asked: ControlRequests['ps']['params'] = {},
): Promise<FoundGateway[]> {
  const found = await Promise.all(
    socketPathsIn(location).map((socketPath) => ping(socketPath, location, asked)),
  );
  return found.filter((gateway) => gateway !== undefined);
}

async function ping(
  socketPath: SocketPath,
  { platform }: SocketLocation,
  asked: ControlRequests['ps']['params'],
): Promise<FoundGateway | undefined> {
  try {
    return { socketPath, report: await askGateway(socketPath, 'ps', asked) };
  } catch (error) {
    if (error instanceof NoAnswer) return { socketPath, report: undefined };
    removeStale(socketPath, platform);
    return undefined;
  }
}

/** Asks a gateway for something; rejects with what it says against it. Requests that start or stop servers have no timeout. */
export async function askGateway<M extends ControlMethod>(
  socketPath: SocketPath,
  method: M,
  params: ControlRequests[M]['params'],
): Promise<ControlRequests[M]['result']> {
  const isSlow = method === 'enable' || method === 'disable' || method === 'restart';
  const socket = await reach(socketPath);
  try {
    return await within(isSlow ? undefined : ANSWER_TIMEOUT_MS, socketPath, ask(socket, method, params));
  } finally {
    socket.destroy();
  }
}

/** A gateway that drains and stops its servers needs up to 5 s each. */
const LONGEST_END_MS = 15_000;
const LOOK_EVERY_MS = 20;

/** Ends a gateway; resolves when its process is gone, rejects where it is not in time. */
export async function endGateway(socketPath: SocketPath): Promise<void> {
  await askGateway(socketPath, 'shutdown', {});
  const deadline = now() + LONGEST_END_MS;
  while (isAlive(socketPath.pid)) {
    if (now() > deadline)
      throw new Error(
        `Gateway ${socketPath.pid} is still running, ${LONGEST_END_MS / 1000} s after it was told to stop.`,
      );
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

export interface Follower<M extends FollowedMethod> {
  answered(result: ControlRequests[M]['result']): void;
  happened(event: GatewayEvent): void;
}

/** Asks a gateway and listens to the events after its answer. Resolves when it is gone; rejects with its refusal. */
export async function followGateway<M extends FollowedMethod>(
  socketPath: SocketPath,
  method: M,
  params: ControlRequests[M]['params'],
  follower: Follower<M>,
): Promise<void> {
  const socket = await reach(socketPath);
  await new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    readLines(socket, (line) => {
      const { error, result, params: event } = line as ReceivedLine<M>;
      if (error !== undefined) reject(new Error(error.message));
      else if (event === undefined) follower.answered(result as ControlRequests[M]['result']);
      else follower.happened(event);
    });
    writeLine(socket, { id: 1, method, params: { ...params, follow: true } });
  }).finally(() => socket.destroy());
}

/** One line from the gateway: the answer, a refusal or an event. */
interface ReceivedLine<M extends FollowedMethod> {
  readonly error?: { readonly message: string };
  readonly result?: ControlRequests[M]['result'];
  readonly params?: GatewayEvent;
}

export async function isAnswering(socketPath: SocketPath): Promise<boolean> {
  try {
    (await reach(socketPath)).destroy();
    return true;
  } catch {
    return false;
  }
}

/** The gateway runs, and says nothing. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

function reach({ path }: SocketPath): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket)).on('error', reject);
  });
}

function ask<M extends ControlMethod>(
  socket: Socket,
  method: M,
  params: ControlRequests[M]['params'],
): Promise<ControlRequests[M]['result']> {
  return new Promise((resolve, reject) => {
    readLines(socket, (line) => {
      const { error, result } = line as { error?: { message: string }; result: ControlRequests[M]['result'] };
      if (error === undefined) resolve(result);
      else reject(new Error(error.message));
    });
    socket.once('close', () => reject(new Error('The gateway stopped before it answered.')));
    writeLine(socket, { id: 1, method, params });
  });
}

async function within<T>(ms: number | undefined, { pid }: SocketPath, asked: Promise<T>): Promise<T> {
  if (ms === undefined) return asked;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const text = `Gateway ${pid} does not answer: it is suspended or overloaded.`;
    timer = setTimeout(() => reject(new NoAnswer(text)), ms);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
