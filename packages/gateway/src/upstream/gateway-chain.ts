import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ServerConfig } from '../config/config.generated.ts';
import { RpcError, RpcErrorCode } from '../errors.ts';
import { shortHash } from '../hash.ts';

/** Carries the chain into the processes that a gateway starts. */
export const CHAIN_VARIABLE = 'WEIR_CHAIN';
/** Carries the chain to servers on HTTP. */
export const CHAIN_HEADER = 'weir-chain';
/** The HTTP status by which a gateway refuses another one. */
export const LOOP_DETECTED = 508;

/** As many gateways may stand behind one another. */
const MAX_DEPTH = 8;

const LOOP =
  'This gateway is already part of the chain of gateways that calls it: it would start itself endlessly. Remove the entry that leads here from the config.';
const TOO_DEEP = `The chain of gateways that leads here already has ${MAX_DEPTH} gateways, the maximum. Remove the entry that leads here from the config.`;
const ID = /^[0-9a-f]{16}$/u;
/** Characters of an id with its separator. */
const LONGEST_ID = 20;
/** As many gateways behind this one are remembered, for all servers together. */
const MOST_BEHIND = 64;

/** Why a gateway does not serve another one. */
export interface ChainRefusal {
  readonly reason: 'loop' | 'depth';
  /** The id of the gateway that refuses. */
  readonly gateway: string;
}

/** This gateway and those that it stands behind, by their ids, outermost first. Each hands its chain on. */
export class Chain {
  /** Error for the gateway that started this one; undefined where this one may serve it. */
  readonly refusal: RpcError | undefined;
  /** The ids of gateways that servers on HTTP are or stand before, by server. */
  readonly #behind = new Map<string, readonly string[]>();

  readonly #before: readonly string[];
  readonly #findId: () => string;
  #id: string | undefined;
  #text: string | undefined;

  /** `findId` is asked when the id is first needed: for most gateways after the first list. */
  constructor(findId: () => string, before?: string) {
    this.#findId = findId;
    this.#before = idsIn(before);
    this.refusal = this.refuse(before);
  }

  get id(): string {
    this.#id ??= this.#findId();
    return this.#id;
  }

  /** The chain as the variable and the header carry it. */
  get text(): string {
    this.#text ??= [...this.#before, this.id].join(',');
    return this.#text;
  }

  /** Refuses a client whose chain contains this gateway or is too long; undefined where it may be served. */
  refuse(chain: string | undefined): RpcError | undefined {
    if (chain === undefined) return undefined;
    const ids = idsIn(chain);
    const reached = new Set(this.#reached());
    if (ids.some((id) => reached.has(id))) return this.#refusal('loop', LOOP);
    return ids.length >= MAX_DEPTH ? this.#refusal('depth', TOO_DEEP) : undefined;
  }

  /** This gateway and those behind it, for clients that are gateways: calls to any of them would come back. */
  get reach(): string {
    return this.#reached().join(',');
  }

  /** Notes which gateways a server on HTTP leads to; what it says of others than itself is bounded. */
  learn(serverKey: string, reach: string): void {
    this.#behind.set(serverKey, idsIn(reach, MOST_BEHIND));
  }

  forget(serverKey: string): void {
    this.#behind.delete(serverKey);
  }

  #reached(): string[] {
    return [this.id, ...[...this.#behind.values()].flat()].slice(0, MOST_BEHIND);
  }

  #refusal(reason: ChainRefusal['reason'], text: string): RpcError {
    const data: { refusal: ChainRefusal } = { refusal: { reason, gateway: this.id } };
    return new RpcError(RpcErrorCode.UNAVAILABLE, text, data);
  }
}

/** Reads the refusal of a gateway out of the error that it has answered with. */
export function refusalIn(error: unknown): ChainRefusal | undefined {
  const { refusal } = (error instanceof RpcError ? (error.data ?? {}) : {}) as {
    refusal?: Partial<ChainRefusal>;
  };
  const { reason, gateway } = refusal ?? {};
  const isRefusal = (reason === 'loop' || reason === 'depth') && typeof gateway === 'string';
  return isRefusal ? { reason, gateway } : undefined;
}

/**
 * The id of a gateway: the same for every process on this machine that serves the same config file, however the file is
 * named; another one for each gateway without a file.
 */
export function gatewayId(configPath: string | undefined): string {
  return shortHash(
    configPath === undefined
      ? `${process.pid} ${Date.now()} ${Math.random()}`
      : `${fileSystem()} ${realPath(configPath)}`,
  );
}

/** The names under which the command is installed, with the endings and versions that launchers and systems add. */
const PROGRAM = /(?:^|[\\/])(?:weir|mcp-weir|mcp-simple-aggregator)(?:@[^\\/]*)?(?:\.\w+)?$/u;

/** Tells at a glance that an entry starts this very gateway. The chain detects entries that hide it. */
export function isOwnEntry({ command, args = [], cwd = '.' }: ServerConfig, configPath?: string): boolean {
  const at = args.findIndex((word) => word === '--config' || word.startsWith('--config='));
  if (configPath === undefined || at < 0) return false;
  if (![command ?? '', ...args].some((word) => PROGRAM.test(word))) return false;
  const file = args[at]?.startsWith('--config=') ? args[at]?.slice('--config='.length) : args[at + 1];
  return file !== undefined && realPath(resolve(cwd, file)) === realPath(configPath);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Tells this file system from that of a container or of another machine, where the same path is another file. */
function fileSystem(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')} ${readlinkSync('/proc/self/ns/mnt')}`;
  } catch {
    return process.getBuiltinModule('node:os').hostname();
  }
}

/** Returns the valid ids of a chain. Drops the rest, because a hostile peer may have written it. */
function idsIn(text = '', most: number = MAX_DEPTH): string[] {
  return text
    .slice(0, most * LONGEST_ID)
    .split(',')
    .map((id) => id.trim())
    .filter((id) => ID.test(id))
    .slice(0, most);
}
