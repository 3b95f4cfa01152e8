import type { Era } from '../wire/era.ts';
import type { Upstream } from './upstream.ts';

/** How clients share a server. */
export type Sharing = 'shared' | 'per-session' | 'per-call';

/** A server of somebody's own. */
export interface Instance {
  readonly upstream: Upstream;
  /** It is needed no more by who asked for it. */
  release(): void;
}

/** For whom a server is started apart: what it is told of its client, and where the client works. */
export interface Tenant {
  readonly capabilities: string;
  readonly cwd?: string | undefined;
  /** How it is greeted, where that is not to be found out. */
  readonly era?: Era | undefined;
  /** And greeted in no other way. */
  readonly isEraFixed?: boolean | undefined;
}

/** A server that was started for one client or call. */
export interface Apart {
  readonly upstream: Upstream;
  /** Resolves when it can be called. */
  readonly started: Promise<void>;
  /** Resolves when it can be called no more. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** Starts a server once more, for one tenant. */
export type StartApart<Client> = (serverKey: string, client: Client, tenant: Tenant) => Apart;

/** The servers that clients or calls have for themselves. */
export class Instances<Client extends object> {
  readonly #start: StartApart<Client>;
  readonly #byClient = new Map<Client, Map<string, Promise<Apart>>>();

  constructor(start: StartApart<Client>) {
    this.#start = start;
  }

  /** One for this call alone. */
  async forCall(serverKey: string, client: Client, tenant: () => Promise<Tenant>): Promise<Instance> {
    const apart = await this.#started(serverKey, client, tenant);
    return { upstream: apart.upstream, release: () => apart.stop() };
  }

  /** The one that all calls of a client share; started by the first of them, and again after it has ended. */
  async forSession(serverKey: string, client: Client, tenant: () => Promise<Tenant>): Promise<Instance> {
    const own = this.#ownOf(client);
    const before = own.get(serverKey);
    const running = await before?.catch(() => undefined);
    // The news of its end may be on the way still.
    if (own.get(serverKey) === before && running?.upstream.peer.gone !== undefined) own.delete(serverKey);
    const starting =
      own.get(serverKey) ?? this.#enter(own, serverKey, this.#started(serverKey, client, tenant));
    return { upstream: (await starting).upstream, release() {} };
  }

  /** The client is gone, and with it what only it has used. */
  end(client: Client): void {
    for (const running of this.#byClient.get(client)?.values() ?? [])
      running.then(
        (apart) => apart.stop(),
        () => {},
      );
    this.#byClient.delete(client);
  }

  #ownOf(client: Client): Map<string, Promise<Apart>> {
    const own = this.#byClient.get(client) ?? new Map<string, Promise<Apart>>();
    this.#byClient.set(client, own);
    return own;
  }

  #enter(own: Map<string, Promise<Apart>>, serverKey: string, starting: Promise<Apart>): Promise<Apart> {
    own.set(serverKey, starting);
    const leave = (): void => {
      if (own.get(serverKey) === starting) own.delete(serverKey);
    };
    starting.then((apart) => apart.ended).then(leave, leave);
    return starting;
  }

  async #started(serverKey: string, client: Client, tenant: () => Promise<Tenant>): Promise<Apart> {
    const apart = this.#start(serverKey, client, await tenant());
    await apart.started;
    return apart;
  }
}
