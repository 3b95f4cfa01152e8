import type { McpConfig, ServerConfig } from '../../../config/config.generated.ts';
import { RpcError, RpcErrorCode } from '../../../errors.ts';
import { isRetry } from '../../../protocol/input-required.ts';
import { Method, isLimited } from '../../../protocol/methods.ts';
import type { Timers } from '../../../time/schedule.ts';
import { decode } from '../../../wire/json/splice.ts';
import type { Message } from '../../../wire/message.ts';
import { RequestWait, type ClientHandle, type ClientRequest } from '../../client-request.ts';
import type { InFlightRequest } from '../../relay.ts';
import type { Target } from '../../resolve.ts';
import { MOST_EXTENSION } from './call-clock.ts';
import { CallQueue, LONGEST_QUEUE, type WaitingCall } from './call-queue.ts';
import { Permit, type TimeLimit } from './permit.ts';

/** Keys of a server's entry that limit its calls. A limit can read no other key, and each has its row in `ENTRY_LIMITS`. */
type LimitEntry = Pick<ServerConfig, 'timeout' | 'tools'>;

/** Keys of the config that limit calls. A limit can read no other key, and each has its row in `CONFIG_LIMITS`. */
interface LimitConfig extends Pick<McpConfig, 'mcpConcurrentLimit' | 'mcpGlobalTimeout' | 'mcpSessionLimit'> {
  readonly mcpServers: Readonly<Record<string, LimitEntry>>;
}

/** Limits the number and the time of calls. Without settings in the config, there is no limit. */
export class CallLimits {
  readonly #timers: Timers;
  readonly #commandName: string;
  readonly #queues = new Map<string, CallQueue>();
  /** Number of tool calls per client. */
  #made = new WeakMap<ClientHandle, number>();
  #config: LimitConfig;
  #isLimited: boolean;
  #isStopped = false;
  readonly #queued = new Set<QueuedCall>();

  constructor(config: LimitConfig, timers: Timers, commandName: string) {
    this.#timers = timers;
    this.#commandName = commandName;
    this.#config = config;
    this.#isLimited = hasLimit(config, CONFIG_LIMITS);
  }

  /** Undefined where nothing limits anything, so that calls have nothing to ask. */
  get active(): this | undefined {
    return this.#isLimited || this.#isStopped ? this : undefined;
  }

  /** Why no call is made now, if none is. */
  get refusal(): RpcError | undefined {
    return this.#isStopped ? stopped(this.#commandName) : undefined;
  }

  /** Applies the limits of another config; calls in flight keep their time. */
  takeConfig(config: LimitConfig): void {
    this.#config = config;
    this.#isLimited = hasLimit(config, CONFIG_LIMITS);
    for (const queue of this.#queues.values()) queue.limit = config.mcpConcurrentLimit ?? Infinity;
  }

  /** Refuses all calls, those that wait included, until `resume`. */
  stop(): void {
    this.#isStopped = true;
    for (const queued of this.#queued) queued.refuse(stopped(this.#commandName));
  }

  /** Ends a call that was under way when all were stopped. */
  revoke(call: InFlightRequest): void {
    call.revoke(stopped(this.#commandName), 'cancelled');
  }

  resume(): void {
    this.#isStopped = false;
  }

  /** Returns true where a call of this server, by this client, would be made at once. */
  canExecute(serverKey: string | undefined, client: ClientHandle | undefined): boolean {
    if (this.#isStopped || this.#isSessionOver(client)) return false;
    return serverKey === undefined || (this.#queues.get(serverKey)?.isFree ?? true);
  }

  /** Takes back that a call was counted, because it was refused before it was sent. */
  uncount(request: ClientRequest): void {
    const { client } = request.caller;
    if (this.#isCounted(request)) this.#made.set(client, Math.max(0, this.#madeBy(client) - 1));
  }

  appliesTo({ method }: Message): boolean {
    return isLimited(method);
  }

  /** Lets a call begin, at once or when its turn has come; or refuses it. */
  admit(request: ClientRequest, target: Target, begin: (permit: Permit, hasWaited: boolean) => void): void {
    const { serverKey } = target.upstream;
    const queue = this.#queueOf(serverKey);
    const refusal =
      this.refusal ??
      (queue?.isFree === false && queue.isFull ? full(serverKey, queue) : undefined) ??
      this.#count(request);
    if (refusal !== undefined) return request.refuse(refusal);
    const permit = new Permit(queue, this.#timeOf(request, target), this.#timers);
    if (queue?.isFree === false) return this.#enqueue(request, queue, () => begin(permit, true));
    queue?.take();
    begin(permit, false);
  }

  #enqueue(request: ClientRequest, queue: CallQueue, begin: () => void): void {
    const leave = (): void => {
      queue.leave(queued);
      this.#queued.delete(queued);
      this.uncount(request);
    };
    const wait = new RequestWait(request, leave);
    const queued: QueuedCall = {
      client: request.caller.client,
      begin: () => {
        this.#queued.delete(queued);
        wait.end();
        begin();
      },
      refuse: (error) => {
        wait.end();
        leave();
        request.refuse(error);
      },
    };
    this.#queued.add(queued);
    queue.wait(queued);
  }

  #queueOf(serverKey: string): CallQueue | undefined {
    const known = this.#queues.get(serverKey);
    const limit = this.#config.mcpConcurrentLimit;
    if (known !== undefined || limit === undefined) return known;
    const queue = new CallQueue(limit);
    this.#queues.set(serverKey, queue);
    return queue;
  }

  #count(request: ClientRequest): RpcError | undefined {
    const { client } = request.caller;
    if (!this.#isCounted(request)) return undefined;
    if (this.#isSessionOver(client)) return sessionOver(this.#sessionLimit);
    this.#made.set(client, this.#madeBy(client) + 1);
    return undefined;
  }

  /** Only tools count, and a call that is made once more, or again with answers, counts once. */
  #isCounted({ message, attempt }: ClientRequest): boolean {
    return message.method === Method.CALL_TOOL && attempt === 0 && !isRetry(message);
  }

  #isSessionOver(client: ClientHandle | undefined): boolean {
    return this.#madeBy(client) >= this.#sessionLimit;
  }

  #madeBy(client: ClientHandle | undefined): number {
    return (client && this.#made.get(client)) ?? 0;
  }

  get #sessionLimit(): number {
    const { mcpSessionLimit: limit = -1 } = this.#config;
    return limit === -1 ? Infinity : limit;
  }

  #timeOf({ message }: ClientRequest, { upstream, originalText }: Target): TimeLimit | undefined {
    const { mcpServers, mcpGlobalTimeout } = this.#config;
    const { serverKey } = upstream;
    const server = mcpServers[serverKey] ?? {};
    const tool = message.method === Method.CALL_TOOL ? decode(originalText) : undefined;
    const ofTool = tool === undefined ? undefined : toolTimeout(server, tool);
    if (ofTool !== undefined)
      return timeLimit(ofTool, `"tools"."${tool}"."timeout" of server '${serverKey}'`);
    if (server.timeout !== undefined) return timeLimit(server.timeout, `"timeout" of server '${serverKey}'`);
    return mcpGlobalTimeout === undefined ? undefined : timeLimit(mcpGlobalTimeout, '"mcpGlobalTimeout"');
  }
}

/** A call in the queue. */
interface QueuedCall extends WaitingCall {
  refuse(error: RpcError): void;
}

/** Tells for each key whether this value limits anything. The compiler misses a key that has no row here. */
type LimitChecks<Keys> = { readonly [Key in keyof Keys]-?: (value: NonNullable<Keys[Key]>) => boolean };

const ENTRY_LIMITS: LimitChecks<LimitEntry> = {
  timeout: () => true,
  tools: (tools) =>
    !Array.isArray(tools) && Object.values(tools).some(({ timeout }) => timeout !== undefined),
};

const CONFIG_LIMITS: LimitChecks<LimitConfig> = {
  mcpConcurrentLimit: () => true,
  mcpGlobalTimeout: () => true,
  mcpSessionLimit: (limit) => limit !== -1,
  mcpServers: (servers) => Object.values(servers).some((entry) => hasLimit(entry, ENTRY_LIMITS)),
};

/** Returns true where one of the checked keys is set and limits something. */
function hasLimit<Keys extends object>(values: Keys, checks: LimitChecks<Keys>): boolean {
  return (Object.keys(checks) as (keyof Keys)[]).some((key) => {
    const value = values[key];
    return value !== undefined && value !== null && checks[key](value);
  });
}

function toolTimeout({ tools = [] }: LimitEntry, tool: string): number | undefined {
  return Array.isArray(tools) || !Object.hasOwn(tools, tool) ? undefined : tools[tool]?.timeout;
}

function timeLimit(milliseconds: number, where: string): TimeLimit {
  return {
    milliseconds,
    exceeded(exceeded) {
      const isMost = exceeded > milliseconds;
      const what = `Execution exceeded ${exceeded / 1000}s`;
      const why = isMost
        ? `, ${MOST_EXTENSION} times the limit, and progress does not extend it further`
        : ' without an answer or progress';
      return unavailable(
        `${what}${why}. The limit is ${milliseconds} ms, set by ${where} in the config: raise it there, or remove it for none.`,
      );
    },
  };
}

function full(serverKey: string, { limit }: CallQueue): RpcError {
  return unavailable(
    `Server '${serverKey}' is busy: ${limit} calls running ("mcpConcurrentLimit") and ${LONGEST_QUEUE} queued (maximum). Raise "mcpConcurrentLimit" in the config, or try again later.`,
  );
}

function sessionOver(limit: number): RpcError {
  return unavailable(
    `This session has made ${limit} calls, the maximum ("mcpSessionLimit"). Raise it in the config (-1 for no limit), or start a new session.`,
  );
}

function stopped(commandName: string): RpcError {
  return unavailable(
    `The operator of the gateway has paused calls. "${commandName} resume" accepts them again.`,
  );
}

function unavailable(text: string): RpcError {
  return new RpcError(RpcErrorCode.UNAVAILABLE, text);
}
