import { quoted, quotedData, Texts, RpcError, RpcErrorCode } from '../errors.ts';
import type { Group } from '../registry/group.ts';
import { validateToolName, type Owner } from '../registry/names.ts';
import type { Meaning } from '../registry/public-names.ts';
import type { RegistryBuilder } from '../registry/registry-builder.ts';
import type { Registry } from '../registry/registry.ts';
import type { HeldBack } from '../registry/tool-filters.ts';
import { INSTRUCTIONS, joinUri, splitUri } from '../registry/uris.ts';
import type { Instance } from '../upstream/pool/instances.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { encode } from '../wire/json/splice.ts';
import type { Caller } from './client-request.ts';
import type { History } from './history/history.ts';
import type { LogLevels } from './log-levels.ts';
import type { NameWarnings } from './name-warnings.ts';
import type { SuspendedCalls } from './questions/suspended-calls.ts';
import type { CallLimits } from './stages/limits/call-limits.ts';
import type { RestartWaiters } from './stages/restart-waiters.ts';
import type { Tasks } from './tasks/tasks.ts';

/** The registry that calls are resolved against, with the services that calls use. */
export interface Directory {
  readonly registry: Registry;
  /** The part of all servers that `registry` has; undefined where it has them all. */
  readonly group: Group | undefined;
  readonly builder: RegistryBuilder;
  readonly suspendedCalls: SuspendedCalls;
  readonly logLevels: LogLevels;
  readonly tasks: Tasks;
  readonly history: History;
  readonly nameWarnings: NameWarnings;
  /** Returns true where a request cannot use the shared connection to a server as it is, but needs `acquire`. */
  readonly needsAcquire: (upstream: Upstream, caller: Caller) => boolean;
  /** Returns the instance for this caller, and starts it where necessary. */
  readonly acquire: (upstream: Upstream, caller: Caller, folder?: string) => Promise<Instance>;
  /** Undefined where nothing is limited. */
  readonly limits: CallLimits | undefined;
  readonly restartWaiters: RestartWaiters;
  /** Returns the newest directory: this one may be replaced while a call waits. */
  readonly current: () => Directory;
  /** The servers that are meant to run, whether or not they do. */
  readonly servers: ReadonlySet<string>;
  /** When one of them that does not run is tried next, as the end of a sentence about it. */
  readonly retryHint: (serverKey: string) => string | undefined;
  /** Returns true while a server starts for the first time. */
  readonly isStarting: (serverKey: string) => boolean;
  /** The name that stands before a server's questions to a person; undefined where the config has one server. */
  readonly askerOf: (serverKey: string) => string | undefined;
  /** Logs every call with its duration; undefined unless the log shows debug lines. */
  readonly trace?: ((text: string) => void) | undefined;
}

/** Servers that an error names. */
const MOST_NAMED = 5;

/** Characters of a name that no server has listed. The history keeps names, so a client must not fill it with long ones. */
const LONGEST_UNLISTED = 256;

/** Server of a request, and the JSON text of the name or URI that the server knows. */
export interface Target {
  readonly upstream: Upstream;
  readonly originalText: string;
  /** The client's URI of the resource, where the server's differs. */
  readonly publicUri?: string;
  /** A tool that does no harm when it is called twice, by its own account. */
  readonly isRepeatable?: boolean;
}

/** The name belongs to a server that does not run. */
export class OwnerAway extends RpcError {
  readonly serverKey: string;
  /** The server's own name of the target. */
  readonly ownName: string;

  constructor(error: RpcError, owner: Owner) {
    super(error.code, error.message, error.data);
    this.serverKey = owner.serverKey;
    this.ownName = owner.name;
  }
}

export function resolveTool(directory: Directory, name: string): Target | RpcError {
  return directory.registry.tools.get(name) ?? resolveAlias(directory, 'tools', name);
}

export function resolvePrompt(directory: Directory, name: string): Target | RpcError {
  return directory.registry.prompts.get(name) ?? resolveAlias(directory, 'prompts', name);
}

/** The exact owner, else the one whose template stands for it, else the only server that has resources at all. */
export function resolveUri(directory: Directory, uri: string): Target | RpcError {
  const { registry, builder, servers } = directory;
  const exact = registry.resources.get(uri) ?? registry.templates.get(uri) ?? registry.apps.get(uri);
  if (exact !== undefined) return exact;
  const named = splitUri(uri);
  const isHidden = named !== undefined && !isWhole(directory, named.serverKey);
  if (named !== undefined && !isHidden && servers.has(named.serverKey))
    return resolveOwnUri(directory, uri, named);
  if (isHidden || named?.serverKey === INSTRUCTIONS) return invalid(Texts.notFound('Resource', uri), { uri });
  const listers = builder.uris.listersOf(uri);
  if (listers.length > 0) return ofServers(directory, uri, listers);
  const { owner, heldBack } = builder.uris.claimantsOf(uri);
  if (owner !== undefined) return ofServers(directory, uri, [owner]);
  if (heldBack.length > 0) return notUnique(directory, uri, heldBack);
  const upstream = onlyOneWithResources(directory);
  if (upstream !== undefined) return { upstream, originalText: encode(uri) };
  return (
    notYet(directory, { what: 'Resource', name: uri }) ?? invalid(Texts.notFound('Resource', uri), { uri })
  );
}

/** The server that has made a task. */
export function resolveTask(directory: Directory, publicId: string): Target | RpcError {
  const own = directory.tasks.ownId(publicId);
  if (own === undefined || directory.group?.hasServer(own.serverKey) === false)
    return invalid(Texts.taskNotFound(publicId));
  const { serverKey } = own;
  const upstream = directory.registry.upstreams.get(serverKey);
  if (upstream === undefined) return absent(directory, { what: 'Task', name: publicId, serverKey });
  return { upstream, originalText: encode(own.id) };
}

/** A URI that names its server. */
function resolveOwnUri(
  directory: Directory,
  publicUri: string,
  { serverKey, uri }: { serverKey: string; uri: string },
): Target | RpcError {
  const { registry, builder } = directory;
  const upstream = registry.upstreams.get(serverKey);
  if (upstream === undefined) return absent(directory, { what: 'Resource', name: publicUri, serverKey });
  const isListed = builder.uris.sharedUri(serverKey, uri) !== undefined;
  const expanded = isListed ? undefined : builder.uris.expanded(serverKey, publicUri);
  return { upstream, originalText: encode(expanded ?? uri), publicUri };
}

/** No other server is asked for what these have listed, or a template of theirs stands for; its owner knows whether it is still there. */
function ofServers(directory: Directory, uri: string, serverKeys: readonly string[]): Target | RpcError {
  const [serverKey, ...others] = serverKeys.filter((key) => isWhole(directory, key));
  if (serverKey === undefined || others.length > 0) return notUnique(directory, uri, serverKeys);
  const upstream = directory.registry.upstreams.get(serverKey);
  if (upstream === undefined) return absent(directory, { what: 'Resource', name: uri, serverKey });
  return { upstream, originalText: encode(uri) };
}

/** Returns true for a server whose resources the session may use. */
function isWhole({ group }: Directory, serverKey: string): boolean {
  return group?.isWhole(serverKey) ?? true;
}

/** Names the URIs under which each of these servers can be asked. */
function notUnique(directory: Directory, uri: string, serverKeys: readonly string[]): RpcError {
  const seen = serverKeys.filter((serverKey) => isWhole(directory, serverKey)).slice(0, MOST_NAMED);
  if (seen.length === 0) return invalid(Texts.notFound('Resource', uri), { uri });
  const publicUris = seen.map((serverKey) => quotedData(joinUri(serverKey, uri)));
  return invalid(Texts.ambiguousName('Resource', uri, publicUris), { uri });
}

/** Only where all servers run: one that is missing may be the one that has it. */
function onlyOneWithResources(directory: Directory): Upstream | undefined {
  const { upstreams } = directory.registry;
  if (upstreams.size < directory.servers.size) return undefined;
  const candidates = [...upstreams.values()].filter(
    ({ serverKey, capabilities }) => capabilities['resources'] !== undefined && isWhole(directory, serverKey),
  );
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Another spelling of a name, or the reason why it leads nowhere. */
function resolveAlias(directory: Directory, kind: 'tools' | 'prompts', name: string): Target | RpcError {
  const what = kind === 'tools' ? 'Tool' : 'Prompt';
  const book = directory.builder.books[kind];
  const meaning = book.meaningOf(name, isSeenBy(directory, kind));
  const { owners, claim } = meaning;
  const { group, builder } = directory;
  const heldBack =
    kind === 'tools' ? builder.heldBack(name, (owner) => group?.hasTool(owner) !== false) : undefined;
  // A bare name may mean what another server offers; a full one never does.
  if (heldBack !== undefined && (owners.length === 0 || name !== heldBack.name))
    return notOffered(name, heldBack);
  if (owners.length > 1) {
    const publicNames = owners.map(({ publicName }) => publicName);
    return invalid(Texts.ambiguousName(what, name, publicNames));
  }
  const away = awayOwner(directory, meaning);
  if (away !== undefined) {
    const { serverKey } = away;
    return new OwnerAway(absent(directory, { what, name, serverKey }), away);
  }
  const [owner] = owners;
  const isOwn = owner !== undefined && claim?.owners.includes(owner.serverKey) !== false;
  const route = isOwn ? directory.registry[kind].get(owner.publicName) : undefined;
  if (route !== undefined) return route;
  const { separator, noPrefix } = book.rules;
  const isOfOneThatRuns = (owner !== undefined || claim !== undefined) && !noPrefix;
  const mayCome = isOfOneThatRuns ? undefined : notYet(directory, { what, name });
  if (mayCome !== undefined) return mayCome;
  const unlisted = noPrefix ? ofOnlyServer(directory, kind, name) : undefined;
  if (unlisted !== undefined) return unlisted;
  const isWellFormed = noPrefix || claim !== undefined || validateToolName(name, separator);
  return invalid(isWellFormed ? Texts.notFound(what, name) : Texts.invalidToolName(separator, name));
}

/** Returns a function that is true for what the session's group has, listed or not; undefined where the session sees all. */
function isSeenBy(
  { group, builder }: Directory,
  kind: 'tools' | 'prompts',
): ((owner: Owner) => boolean) | undefined {
  if (group === undefined) return undefined;
  if (kind === 'prompts') return ({ serverKey }) => group.isWhole(serverKey);
  return (owner) => group.hasTool({ serverKey: owner.serverKey, name: builder.ownName(owner) });
}

function notOffered(name: string, { serverKey, key, rename }: HeldBack): RpcError {
  return invalid(
    rename === undefined
      ? Texts.toolHeldBack(name, serverKey, key)
      : `Tool not found: ${quoted(name)} (renamed to "${rename}" by "tools" of server '${serverKey}' in the config)`,
  );
}

/** Returns what is meant of a server that is away: it has listed the name, or the name begins with its key. */
function awayOwner(directory: Directory, { owners, claim }: Meaning): Owner | undefined {
  const [owner] = owners;
  if (claim === undefined) return owner && isMissing(directory, owner.serverKey) ? owner : undefined;
  const serverKey = claim.owners.find((key) => isMissing(directory, key));
  if (serverKey === undefined) return undefined;
  return claim.readings.find((reading) => reading.serverKey === serverKey);
}

/** Returns the only server, where names have no prefix, also for an unlisted name; never starts a lazy server for one. */
function ofOnlyServer(
  directory: Directory,
  kind: 'tools' | 'prompts',
  name: string,
): Target | RpcError | undefined {
  const { registry, servers, builder, group } = directory;
  // A group has what is listed.
  if (group !== undefined) return undefined;
  const [upstream] = registry.upstreams.values();
  if (servers.size !== 1 || upstream === undefined || upstream.isLazy === true) return undefined;
  const { serverKey } = upstream;
  const key = kind === 'tools' ? builder.heldBackBy({ serverKey, name }) : undefined;
  if (key !== undefined) return invalid(Texts.toolHeldBack(name, serverKey, key));
  if (name.length > LONGEST_UNLISTED) return undefined;
  return { upstream, originalText: encode(kind === 'tools' ? builder.ownName({ serverKey, name }) : name) };
}

/** True for a server of the config that does not run, also where the config switches it off. */
function isMissing({ registry, builder }: Directory, serverKey: string): boolean {
  return builder.books.tools.isConfigured(serverKey) && !registry.upstreams.has(serverKey);
}

/** Kind and name of a target, for error texts. */
interface Wanted {
  readonly what: 'Tool' | 'Prompt' | 'Resource' | 'Task';
  readonly name: string;
}

/** Returns the error for a target whose server does not run. */
function absent(directory: Directory, { what, name, serverKey }: Wanted & { serverKey: string }): RpcError {
  if (directory.isStarting(serverKey))
    return new RpcError(RpcErrorCode.UNAVAILABLE, Texts.ownerStarting(what, name, serverKey));
  const data = what === 'Resource' ? { uri: name } : undefined;
  return invalid(Texts.ownerNotRunning(what, name, serverKey, directory.retryHint(serverKey)), data);
}

/** Returns an error where a server that still starts may own the name; undefined where none starts. */
function notYet({ servers, isStarting }: Directory, { what, name }: Wanted): RpcError | undefined {
  const starting = [...servers].filter(isStarting);
  if (starting.length === 0) return undefined;
  return new RpcError(RpcErrorCode.UNAVAILABLE, Texts.othersStarting(what, name, starting));
}

function invalid(message: string, data?: { readonly uri: string }): RpcError {
  const shortened = data && { uri: quotedData(data.uri) };
  return new RpcError(RpcErrorCode.INVALID_PARAMS, message, shortened);
}
