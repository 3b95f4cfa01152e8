import { RpcError, RpcErrorCode } from '../../errors.ts';
import { LEGACY_VERSIONS, Meta } from '../../protocol/eras.ts';
import { joinTaskId, splitTaskId, taskPrefix } from '../../registry/task-ids.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { findMember, objectValue, readMembers, stringValue, type Members } from '../../wire/json/members.ts';
import { changeMembers, encode, lineBytes, replaceValue, splice, type Edit } from '../../wire/json/splice.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import type { Recipient } from '../../wire/peer.ts';
import { Owners } from './task-owners.ts';

/** Name of the extension for tasks in the modern era; in the legacy era tasks are part of the protocol. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** In `_meta`: the task that a message belongs to. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Tasks of one server that are remembered for whom they were made. */
const MOST_OF_SERVER = 10_000;

const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

const QUOTE = 0x22;

/** Returns true where a server may answer a call with a task. */
export function offersTasks({ era, capabilities }: Upstream): boolean {
  if (era === 'legacy') return capabilities['tasks'] !== undefined;
  const extensions = capabilities['extensions'] as Record<string, unknown> | null | undefined;
  return extensions?.[TASKS_EXTENSION] !== undefined;
}

/** A call that goes on as a task: its token for progress on both sides, and who hears of it. */
export interface Followed {
  readonly upstream: Upstream;
  readonly sentToken: number;
  /** JSON text. */
  readonly token: string;
  readonly recipient: Recipient;
}

/** The tasks of all servers: their ids in one space, and for whom they were made. */
export class Tasks {
  readonly #servers: Set<string>;
  /** The only server there was at first, whose ids were given out as they are. */
  readonly #first: string | undefined;
  readonly #owners = new Owners(MOST_OF_SERVER, (serverKey, id) => this.over(this.publicId(serverKey, id)));
  readonly #followed = new Map<string, () => void>();

  constructor(servers: Iterable<string>) {
    this.#servers = new Set(servers);
    [this.#first] = this.#servers.size === 1 ? this.#servers : [];
  }

  /** Adds servers. Removed servers stay, because public ids that carry their key remain valid. */
  setServers(servers: Iterable<string>): void {
    for (const serverKey of servers) this.#servers.add(serverKey);
  }

  /** False for a single server, whose task ids stay unchanged. */
  get areApart(): boolean {
    return this.#servers.size > 1;
  }

  publicId(serverKey: string, id: string): string {
    return this.areApart ? joinTaskId(serverKey, id) : id;
  }

  /** The other direction; undefined for an id that was not given out here. */
  ownId(publicId: string): { serverKey: string; id: string } | undefined {
    const [only = ''] = this.#servers;
    const own = this.areApart ? splitTaskId(publicId) : { serverKey: only, id: publicId };
    if (own !== undefined && this.#servers.has(own.serverKey)) return own;
    return this.#first === undefined ? undefined : { serverKey: this.#first, id: publicId };
  }

  /** Remembers for whom a server has made a task; returns false where its id is too long for that. */
  note(serverKey: string, id: string, identity: string): boolean {
    return this.#owners.note(serverKey, id, identity);
  }

  /** Passes on the progress of a task, which goes on after the call that has begun it was answered. */
  follow(publicId: string, { upstream, sentToken, token, recipient }: Followed): void {
    const { peer, serverKey } = upstream;
    this.#followed.set(publicId, () => peer.unfollow(sentToken));
    peer.follow(sentToken, ({ bytes, params, meta }) => {
      if (recipient.gone !== undefined) return this.over(publicId);
      if (params === undefined) return;
      const edit = replaceValue(params, findMember(params, 'progressToken'), token);
      recipient.send(splice(bytes, [edit, ...this.relatedEdits(serverKey, meta)]));
    });
  }

  /** The task has come to its end: nothing is to follow. */
  over(publicId: string): void {
    this.#followed.get(publicId)?.();
    this.#followed.delete(publicId);
  }

  ownerOf(publicId: string): string | undefined {
    const own = this.ownId(publicId);
    return own && this.#owners.of(own.serverKey, own.id);
  }

  /** Returns the public id of the task that a notification of a server names or belongs to. */
  idNamed(serverKey: string, { params, meta }: Message): string | undefined {
    const related = meta && objectValue(meta, RELATED_TASK);
    const id = [params, related].map((holder) => holder && stringValue(holder, 'taskId')).find(Boolean);
    return id === undefined ? undefined : this.publicId(serverKey, id);
  }

  /** The client for whose task a server asks something, where it says so. */
  askedFor({ meta }: Message): string | undefined {
    const related = meta && objectValue(meta, RELATED_TASK);
    return this.ownerOf((related && stringValue(related, 'taskId')) ?? '');
  }

  /** The edit that makes the id of a task public which stands in an object as `taskId`. */
  idEdits(serverKey: string, holder: Members | undefined): Edit[] {
    const m = holder === undefined || !this.areApart ? -1 : findMember(holder, 'taskId');
    const start = m < 0 ? -1 : (holder?.flat[m + 2] as number);
    if (start < 0 || holder?.bytes[start] !== QUOTE) return [];
    return [{ start: start + 1, end: start + 1, text: taskPrefix(serverKey) }];
  }

  /** The same for the task that a `_meta` says it belongs to. */
  relatedEdits(serverKey: string, meta: Members | undefined): Edit[] {
    return this.idEdits(serverKey, meta && objectValue(meta, RELATED_TASK));
  }

  /** The other direction: the edits that give an answer the id by which its server knows the task. */
  ownRelatedEdits(serverKey: string, { body, isError }: Message): Edit[] {
    const result = isError || !this.areApart ? undefined : body;
    const meta = result && objectValue(result, '_meta');
    const holder = meta && objectValue(meta, RELATED_TASK);
    const own = splitTaskId((holder && stringValue(holder, 'taskId')) ?? '');
    if (holder === undefined || own?.serverKey !== serverKey) return [];
    return [replaceValue(holder, findMember(holder, 'taskId'), encode(own.id))];
  }

  /** A request or notification of a server's with the ids of its tasks as clients know them. */
  publicMessage({ serverKey }: Upstream, message: Message): Message {
    if (!this.areApart) return message;
    const { bytes, kind, params, meta } = message;
    const edits = this.relatedEdits(serverKey, meta);
    if (kind === 'notification') edits.push(...this.idEdits(serverKey, params));
    if (edits.length === 0) return message;
    const changed = readMessage(lineBytes(splice(bytes, edits)));
    return changed.kind === 'invalid' ? message : changed;
  }
}

/** Returns true for a task whose status is final. */
export function isOver(task: Members): boolean {
  return ENDS.has(stringValue(task, 'status') ?? '');
}

/** The id of the task that a message is about. */
export function taskIdOf({ params }: Message): string | undefined {
  return params && stringValue(params, 'taskId');
}

/** Returns the capabilities of a legacy client without the tasks extension, because it could not follow a modern task. */
export function withoutTasks(capabilities: string): string {
  const bytes = Buffer.from(capabilities, 'latin1');
  const declared = readMembers(bytes, 0);
  const extensions = declared && objectValue(declared, 'extensions');
  if (extensions === undefined || findMember(extensions, TASKS_EXTENSION) < 0) return capabilities;
  return lineBytes(splice(bytes, changeMembers(extensions, [TASKS_EXTENSION], ''))).toString('latin1');
}

/** Returns true for a request of a modern client that knows tasks. */
export function declaresTasks({ meta }: Message): boolean {
  return hasExtension(meta && objectValue(meta, Meta.CLIENT_CAPABILITIES));
}

/**
 * Returns true where the handshake of a legacy client, with these capabilities as JSON, says that it knows tasks. Some say
 * it by the extension of the modern era, and call such tools all the same.
 */
export function handshakeHasTasks(version: string, capabilities: string): boolean {
  const declared =
    version === LEGACY_VERSIONS[0] ? readMembers(Buffer.from(capabilities, 'latin1'), 0) : undefined;
  return declared !== undefined && (findMember(declared, 'tasks') >= 0 || hasExtension(declared));
}

function hasExtension(capabilities: Members | undefined): boolean {
  const extensions = capabilities && objectValue(capabilities, 'extensions');
  return extensions !== undefined && findMember(extensions, TASKS_EXTENSION) >= 0;
}

/** Why a modern client may not use tasks: it has to say with each request that it knows them. */
export function tasksRefusal(message: Message): RpcError | undefined {
  if (declaresTasks(message)) return undefined;
  return new RpcError(
    RpcErrorCode.MISSING_CAPABILITY,
    `Missing required client capability: declare the extension "${TASKS_EXTENSION}" with every request about tasks`,
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
  );
}
