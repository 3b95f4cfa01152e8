import type { ServerConfig } from '../../config/config.generated.ts';
import type { Era } from '../../protocol/eras.ts';
import { now } from '../../time/clock.ts';
import type { Upstream } from '../upstream.ts';

export type Sharing = 'shared' | 'per-session' | 'per-call';

/** Returns who shares a process of a server, and whether it runs in the folder of its client. */
export function sharingOf({ sharing = 'shared', cwdFromRoots }: ServerConfig): {
  sharing: Sharing;
  cwdFromRoots: boolean;
} {
  return { sharing, cwdFromRoots: sharing !== 'shared' && cwdFromRoots === true };
}

/** A server that was acquired for one request. */
export interface Instance {
  readonly upstream: Upstream;
  /** Called when the request is over. */
  release(): void;
}

/** Options of a dedicated instance: the capabilities and the folder of its client, and its era. */
export interface InstanceOptions {
  readonly capabilities: string;
  readonly cwd?: string | undefined;
  /** Era of the handshake; undefined negotiates it. */
  readonly era?: Era | undefined;
  /** True where the handshake must not fall back to the other era. */
  readonly isEraFixed?: boolean | undefined;
}

/** A server that was started for one client or call. */
export interface DedicatedServer {
  readonly upstream: Upstream;
  /** Resolves when it can be called. */
  readonly started: Promise<void>;
  /** Resolves when it can be called no more. */
  readonly ended: Promise<void>;
  /** Resolves when nothing is left of it. */
  stop(): Promise<void>;
}

/** A client, as far as it matters for the servers that it has for itself. */
export interface InstanceOwner {
  readonly isSharedToken: boolean;
  /** Returns true while it listens or waits for an answer; undefined where its front cannot tell. */
  isAttended?(): boolean | undefined;
}

/** Starts a server once more, for one tenant. */
export type StartDedicated<Client> = (
  serverKey: string,
  client: Client,
  options: InstanceOptions,
) => DedicatedServer;

/** Key of a client's instance. `place` is its folder, because programs behind one token may work in several. */
export interface InstanceKey {
  readonly serverKey: string;
  readonly place: string;
  /** No process is started for it. */
  readonly isRemote: boolean;
}

/** Processes of one server that may run apart; one more takes the place of the idlest that no client uses. */
const MOST_OF_ONE = 256;
/**
 * Processes of one server that sessions may leave within a minute; for each more, the next session waits 250 ms for its
 * own. Beside the work of the new process, a start holds up the event loop: for 6 ms in a gateway of 220 MB.
 */
const MOST_LEFT = 16;
const LEFT_LATELY_MS = 60_000;
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** Idle time before an instance behind a shared token stops, because such a client never disconnects. */
const IDLE_MS = 10 * 60 * 1000;

interface Own {
  readonly starting: Promise<DedicatedServer>;
  running?: DedicatedServer;
  /** Calls in flight. */
  users: number;
  /** When the last call was over. */
  idleSince: number;
  idle?: NodeJS.Timeout;
}

/** An idle instance, with its place in the table. */
interface Left {
  readonly own: Own;
  readonly all: Map<string, Own>;
  readonly name: string;
}

/** The servers that clients or calls have for themselves. */
export class Instances<Client extends InstanceOwner> {
  readonly #start: StartDedicated<Client>;
  readonly #byClient = new Map<Client, Map<string, Own>>();
  readonly #counts = new Map<string, number>();

  constructor(start: StartDedicated<Client>) {
    this.#start = start;
  }

  /** One for this call alone. */
  async forCall(
    serverKey: string,
    client: Client,
    options: () => Promise<InstanceOptions>,
  ): Promise<Instance> {
    const dedicated = await this.#started(serverKey, client, options);
    return { upstream: dedicated.upstream, release: () => void dedicated.stop() };
  }

  /** The one that all calls of a client share; started by the first of them, and again after it has ended. */
  async forSession(
    key: InstanceKey,
    client: Client,
    options: () => Promise<InstanceOptions>,
  ): Promise<Instance> {
    const all = this.#ownOf(client);
    const name = `${prefixOf(key.serverKey)}${key.place}`;
    // Entered before anything is waited for: calls that come at once share it, and it ends with its client.
    const own = living(all, name) ?? enter(all, name, this.#startedInPace(key, client, options));
    clearTimeout(own.idle);
    own.users++;
    const release = (): void => {
      own.users--;
      own.idleSince = now();
      if (own.users === 0 && client.isSharedToken) own.idle = setTimeout(() => stop(own), IDLE_MS).unref();
    };
    try {
      return { upstream: (await own.starting).upstream, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Those of a client that run. */
  of(client: Client): Upstream[] {
    const own = [...(this.#byClient.get(client)?.values() ?? [])];
    return own.flatMap(({ running }) => running?.upstream ?? []);
  }

  /** The client is gone, and with it what only it has used. */
  end(client: Client): void {
    for (const own of this.#byClient.get(client)?.values() ?? []) stop(own);
    this.#byClient.delete(client);
  }

  #ownOf(client: Client): Map<string, Own> {
    const own = this.#byClient.get(client) ?? new Map<string, Own>();
    this.#byClient.set(client, own);
    return own;
  }

  /** Waits first where sessions have left many processes lately: who comes and goes must not keep the machine busy with starts. */
  async #startedInPace(
    { serverKey, isRemote }: InstanceKey,
    client: Client,
    options: () => Promise<InstanceOptions>,
  ): Promise<DedicatedServer> {
    const leftLately = [...this.#left(serverKey)].filter(({ own }) => now() - own.idleSince < LEFT_LATELY_MS);
    const pause = isRemote ? 0 : PAUSE_MS * (leftLately.length - MOST_LEFT);
    if (pause > 0) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(pause, LONGEST_PAUSE_MS)).unref());
      // A client that has left comes back to an error, and to a process when it calls again.
      if (client.isAttended?.() === false) throw new Error('The client disconnected while it waited');
    }
    return this.#started(serverKey, client, options);
  }

  async #started(
    serverKey: string,
    client: Client,
    options: () => Promise<InstanceOptions>,
  ): Promise<DedicatedServer> {
    const count = this.#counts.get(serverKey) ?? 0;
    const evicted = count < MOST_OF_ONE ? undefined : this.#evict(serverKey);
    this.#counts.set(serverKey, count + 1);
    const leave = (): void => void this.#counts.set(serverKey, (this.#counts.get(serverKey) ?? 1) - 1);
    try {
      await evicted;
      const dedicated = this.#start(serverKey, client, await options());
      await dedicated.started;
      void dedicated.ended.then(leave);
      return dedicated;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Returns the processes of a server that no call uses, of clients that neither listen nor wait for an answer. */
  *#left(serverKey: string): Generator<Left> {
    for (const [client, all] of this.#byClient) {
      if (client.isAttended?.() === true) continue;
      for (const [name, own] of all)
        if (own.running !== undefined && own.users === 0 && name.startsWith(prefixOf(serverKey)))
          yield { own, all, name };
    }
  }

  /** Stops the one that was used least recently. */
  #evict(serverKey: string): Promise<void> {
    let idlest: Left | undefined;
    for (const left of this.#left(serverKey))
      if (left.own.idleSince < (idlest?.own.idleSince ?? Infinity)) idlest = left;
    if (idlest === undefined)
      throw new Error(
        `Server '${serverKey}' already runs in ${MOST_OF_ONE} processes, the maximum; try again when some have ended`,
      );
    // Removed before the stop completes, so that no other call evicts or uses it.
    idlest.all.delete(idlest.name);
    clearTimeout(idlest.own.idle);
    return idlest.own.running?.stop() ?? Promise.resolve();
  }
}

/** Begins the names of all servers of this key. */
function prefixOf(serverKey: string): string {
  return `${serverKey}\0`;
}

/** The one that runs or is about to; the event of its end may be still to come. */
function living(all: Map<string, Own>, name: string): Own | undefined {
  const own = all.get(name);
  if (own?.running?.upstream.peer.gone === undefined) return own;
  all.delete(name);
  return undefined;
}

function enter(all: Map<string, Own>, name: string, starting: Promise<DedicatedServer>): Own {
  const own: Own = { starting, users: 0, idleSince: now() };
  all.set(name, own);
  const leave = (): void => {
    clearTimeout(own.idle);
    if (all.get(name) === own) all.delete(name);
  };
  starting
    .then((dedicated) => {
      own.running = dedicated;
      return dedicated.ended;
    })
    .then(leave, leave);
  return own;
}

function stop({ starting, idle }: Own): void {
  clearTimeout(idle);
  starting.then(
    (dedicated) => dedicated.stop(),
    () => {},
  );
}
