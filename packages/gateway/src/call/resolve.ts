import { quotedData, RpcError, RpcErrorCode } from '../errors.ts';
import { validateToolName, type Owner } from '../registry/names.ts';
import type { Meaning } from '../registry/public-names.ts';
import type { HeldBack } from '../registry/tool-filters.ts';
import { INSTRUCTIONS, joinUri, splitUri } from '../registry/uris.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { encode } from '../wire/json/splice.ts';
import {
  ambiguousName,
  hiddenTool,
  invalidToolName,
  notFound,
  othersStarting,
  ownerNotRunning,
  ownerStarting,
  renamedTool,
  taskNotFound,
} from './not-found.ts';
import type { GatewaySnapshot } from './snapshot.ts';

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

/** The error for a name whose server is known: the server does not run, or the config hides or renames the tool. */
export class OwnerError extends RpcError {
  readonly serverKey: string;
  /** The server's own name of the target. */
  readonly ownName: string;

  constructor(error: RpcError, owner: Owner) {
    super(error.code, error.message, error.data);
    this.serverKey = owner.serverKey;
    this.ownName = owner.name;
  }
}

export function resolveTool(snapshot: GatewaySnapshot, name: string): Target | RpcError {
  return snapshot.registry.tools.get(name) ?? resolveAlias(snapshot, 'tools', name);
}

export function resolvePrompt(snapshot: GatewaySnapshot, name: string): Target | RpcError {
  return snapshot.registry.prompts.get(name) ?? resolveAlias(snapshot, 'prompts', name);
}

/** The exact owner, else the one whose template stands for it, else the only server that has resources at all. */
export function resolveUri(snapshot: GatewaySnapshot, uri: string): Target | RpcError {
  const { registry, builder, servers } = snapshot;
  const exact = registry.resources.get(uri) ?? registry.templates.get(uri) ?? registry.apps.get(uri);
  if (exact !== undefined) return exact;
  const named = splitUri(uri);
  const isHidden = named !== undefined && !isWhole(snapshot, named.serverKey);
  if (named !== undefined && !isHidden && servers.has(named.serverKey))
    return resolveOwnUri(snapshot, uri, named);
  if (isHidden || named?.serverKey === INSTRUCTIONS) return invalid(notFound('Resource', uri), { uri });
  const listers = builder.uris.listersOf(uri);
  if (listers.length > 0) return ofServers(snapshot, uri, listers);
  const { owner, heldBack } = builder.uris.claimantsOf(uri);
  if (owner !== undefined) return ofServers(snapshot, uri, [owner]);
  if (heldBack.length > 0) return notUnique(snapshot, uri, heldBack);
  const upstream = onlyOneWithResources(snapshot);
  if (upstream !== undefined) return { upstream, originalText: encode(uri) };
  return notYet(snapshot, { what: 'Resource', name: uri }) ?? invalid(notFound('Resource', uri), { uri });
}

/** The server that has made a task. */
export function resolveTask(snapshot: GatewaySnapshot, publicId: string): Target | RpcError {
  const own = snapshot.services.tasks.ownId(publicId);
  if (own === undefined || snapshot.group?.hasServer(own.serverKey) === false)
    return invalid(taskNotFound(publicId));
  const { serverKey } = own;
  const upstream = snapshot.registry.upstreams.get(serverKey);
  if (upstream === undefined) return absent(snapshot, { what: 'Task', name: publicId, serverKey });
  return { upstream, originalText: encode(own.id) };
}

/** A URI that names its server. */
function resolveOwnUri(
  snapshot: GatewaySnapshot,
  publicUri: string,
  { serverKey, uri }: { serverKey: string; uri: string },
): Target | RpcError {
  const { registry, builder } = snapshot;
  const upstream = registry.upstreams.get(serverKey);
  if (upstream === undefined) return absent(snapshot, { what: 'Resource', name: publicUri, serverKey });
  const isListed = builder.uris.sharedUri(serverKey, uri) !== undefined;
  const expanded = isListed ? undefined : builder.uris.expanded(serverKey, publicUri);
  return { upstream, originalText: encode(expanded ?? uri), publicUri };
}

/** No other server is asked for what these have listed, or a template of theirs stands for; its owner knows whether it is still there. */
function ofServers(snapshot: GatewaySnapshot, uri: string, serverKeys: readonly string[]): Target | RpcError {
  const [serverKey, ...others] = serverKeys.filter((key) => isWhole(snapshot, key));
  if (serverKey === undefined || others.length > 0) return notUnique(snapshot, uri, serverKeys);
  const upstream = snapshot.registry.upstreams.get(serverKey);
  if (upstream === undefined) return absent(snapshot, { what: 'Resource', name: uri, serverKey });
  return { upstream, originalText: encode(uri) };
}

/** Returns true for a server whose resources the session may use. */
function isWhole({ group }: GatewaySnapshot, serverKey: string): boolean {
  return group?.isWhole(serverKey) ?? true;
}

/** Names the URIs under which each of these servers can be asked. */
function notUnique(snapshot: GatewaySnapshot, uri: string, serverKeys: readonly string[]): RpcError {
  const seen = serverKeys.filter((serverKey) => isWhole(snapshot, serverKey)).slice(0, MOST_NAMED);
  if (seen.length === 0) return invalid(notFound('Resource', uri), { uri });
  const publicUris = seen.map((serverKey) => quotedData(joinUri(serverKey, uri)));
  return invalid(ambiguousName('Resource', uri, publicUris), { uri });
}

/** Only where all servers run: one that is missing may be the one that has it. */
function onlyOneWithResources(snapshot: GatewaySnapshot): Upstream | undefined {
  const { upstreams } = snapshot.registry;
  if (upstreams.size < snapshot.servers.size) return undefined;
  const candidates = [...upstreams.values()].filter(
    ({ serverKey, capabilities }) => capabilities['resources'] !== undefined && isWhole(snapshot, serverKey),
  );
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Another spelling of a name, or the reason why it leads nowhere. */
function resolveAlias(snapshot: GatewaySnapshot, kind: 'tools' | 'prompts', name: string): Target | RpcError {
  const what = kind === 'tools' ? 'Tool' : 'Prompt';
  const book = snapshot.builder.books[kind];
  const meaning = book.meaningOf(name, isSeenBy(snapshot, kind));
  const { owners, claim } = meaning;
  const { group, builder } = snapshot;
  const heldBack =
    kind === 'tools' ? builder.heldBack(name, (owner) => group?.hasTool(owner) !== false) : undefined;
  // A bare name may mean what another server offers; a full one never does.
  if (heldBack !== undefined && (owners.length === 0 || name !== heldBack.name))
    return notOffered(name, heldBack);
  if (owners.length > 1) {
    const publicNames = owners.map(({ publicName }) => publicName);
    return invalid(ambiguousName(what, name, publicNames));
  }
  const away = awayOwner(snapshot, meaning);
  if (away !== undefined) {
    const { serverKey } = away;
    return new OwnerError(absent(snapshot, { what, name, serverKey }), away);
  }
  const [owner] = owners;
  const isOwn = owner !== undefined && claim?.owners.includes(owner.serverKey) !== false;
  const route = isOwn ? snapshot.registry[kind].get(owner.publicName) : undefined;
  if (route !== undefined) return route;
  const { separator, noPrefix } = book.rules;
  const isOfOneThatRuns = (owner !== undefined || claim !== undefined) && !noPrefix;
  const mayCome = isOfOneThatRuns ? undefined : notYet(snapshot, { what, name });
  if (mayCome !== undefined) return mayCome;
  const unlisted = noPrefix ? ofOnlyServer(snapshot, kind, name) : undefined;
  if (unlisted !== undefined) return unlisted;
  const isWellFormed = noPrefix || claim !== undefined || validateToolName(name, separator);
  return invalid(isWellFormed ? notFound(what, name) : invalidToolName(separator, name));
}

/** Returns a function that is true for what the session's group has, listed or not; undefined where the session sees all. */
function isSeenBy(
  { group, builder }: GatewaySnapshot,
  kind: 'tools' | 'prompts',
): ((owner: Owner) => boolean) | undefined {
  if (group === undefined) return undefined;
  if (kind === 'prompts') return ({ serverKey }) => group.isWhole(serverKey);
  return (owner) => group.hasTool({ serverKey: owner.serverKey, name: builder.ownName(owner) });
}

function notOffered(name: string, heldBack: HeldBack): RpcError {
  const { serverKey, key, rename } = heldBack;
  const message =
    rename === undefined ? hiddenTool(name, serverKey, key) : renamedTool(name, serverKey, rename);
  return new OwnerError(invalid(message), heldBack);
}

/** Returns what is meant of a server that is away: it has listed the name, or the name begins with its key. */
function awayOwner(snapshot: GatewaySnapshot, { owners, claim }: Meaning): Owner | undefined {
  const [owner] = owners;
  if (claim === undefined) return owner && isMissing(snapshot, owner.serverKey) ? owner : undefined;
  const serverKey = claim.owners.find((key) => isMissing(snapshot, key));
  if (serverKey === undefined) return undefined;
  return claim.readings.find((reading) => reading.serverKey === serverKey);
}

/** Returns the only server, where names have no prefix, also for an unlisted name; never starts a lazy server for one. */
function ofOnlyServer(
  snapshot: GatewaySnapshot,
  kind: 'tools' | 'prompts',
  name: string,
): Target | RpcError | undefined {
  const { registry, servers, builder, group } = snapshot;
  // A group has what is listed.
  if (group !== undefined) return undefined;
  const [upstream] = registry.upstreams.values();
  if (servers.size !== 1 || upstream === undefined || upstream.isPlaceholder === true) return undefined;
  const { serverKey } = upstream;
  const ownName = kind === 'tools' ? builder.ownName({ serverKey, name }) : name;
  const key = kind === 'tools' ? builder.heldBackBy({ serverKey, name }) : undefined;
  if (key !== undefined)
    return new OwnerError(invalid(hiddenTool(name, serverKey, key)), { serverKey, name: ownName });
  if (name.length > LONGEST_UNLISTED) return undefined;
  return { upstream, originalText: encode(ownName) };
}

/** True for a server of the config that does not run, also where the config switches it off. */
function isMissing({ registry, builder }: GatewaySnapshot, serverKey: string): boolean {
  return builder.books.tools.isConfigured(serverKey) && !registry.upstreams.has(serverKey);
}

/** Kind and name of a target, for error texts. */
interface WantedTarget {
  readonly what: 'Tool' | 'Prompt' | 'Resource' | 'Task';
  readonly name: string;
}

/** Returns the error for a target whose server does not run. */
function absent(
  snapshot: GatewaySnapshot,
  { what, name, serverKey }: WantedTarget & { serverKey: string },
): RpcError {
  const { isStarting, retryHint } = snapshot.services;
  if (isStarting(serverKey))
    return new RpcError(RpcErrorCode.UNAVAILABLE, ownerStarting(what, name, serverKey));
  const data = what === 'Resource' ? { uri: name } : undefined;
  return invalid(ownerNotRunning(what, name, serverKey, retryHint(serverKey)), data);
}

/** Returns an error where a server that still starts may own the name; undefined where none starts. */
function notYet({ servers, services }: GatewaySnapshot, { what, name }: WantedTarget): RpcError | undefined {
  const starting = [...servers].filter(services.isStarting);
  if (starting.length === 0) return undefined;
  return new RpcError(RpcErrorCode.UNAVAILABLE, othersStarting(what, name, starting));
}

function invalid(message: string, data?: { readonly uri: string }): RpcError {
  const shortened = data && { uri: quotedData(data.uri) };
  return new RpcError(RpcErrorCode.INVALID_PARAMS, message, shortened);
}
