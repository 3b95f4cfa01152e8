import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { NameBook } from '../registry/name-book.ts';
import { validateToolName } from '../registry/names.ts';
import type { Registry, RegistryBuilder } from '../registry/registry.ts';
import { lookupTool, type Route } from '../registry/tool-registry.ts';
import { matchesTemplate, splitTemplateUri, splitUri } from '../registry/uris.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { encode } from '../wire/splice.ts';

/** What calls are resolved against. */
export interface Directory {
  readonly registry: Registry;
  readonly builder: RegistryBuilder;
  /** Told of every call and how long it took, where somebody wants to know. */
  readonly trace?: ((text: string) => void) | undefined;
}

/** Where a request goes, and the JSON text of the name or URI that its server knows. */
export interface Target {
  readonly client: Upstream;
  readonly originalText: string;
}

export function resolveTool({ registry, builder }: Directory, name: string): Target | RpcError {
  return lookupTool(registry.tools, name) ?? resolveAlias('Tool', name, registry.tools, builder.books.tools);
}

export function resolvePrompt({ registry, builder }: Directory, name: string): Target | RpcError {
  return registry.prompts.get(name) ?? resolveAlias('Prompt', name, registry.prompts, builder.books.prompts);
}

/** The exact owner, else the first template that fits, else the only server that has resources at all. */
export function resolveUri({ registry, builder }: Directory, uri: string): Target | RpcError {
  const exact = registry.resources.get(uri) ?? registry.templates.get(uri);
  if (exact !== undefined) return exact;
  const named = splitUri(uri);
  const owner = named && registry.upstreams.get(named.serverKey);
  if (named !== undefined && owner !== undefined) {
    const isListed = builder.sharedUri(named.serverKey, named.uri) !== undefined;
    const expanded = isListed ? undefined : fromTemplate(registry, named.serverKey, uri);
    return { client: owner, originalText: encode(expanded ?? named.uri) };
  }
  const client = byTemplate(registry, uri) ?? onlyOneWithResources(registry);
  if (client !== undefined) return { client, originalText: encode(uri) };
  return new RpcError(RpcErrorCode.INVALID_PARAMS, Messages.resourceNotFound(uri), { uri });
}

/** The server's own URI for one that was made from a template it shares with others. */
function fromTemplate({ templates }: Registry, serverKey: string, publicUri: string): string | undefined {
  for (const route of templates.values()) {
    const uri =
      route.serverKey === serverKey ? splitTemplateUri(serverKey, route.originalName, publicUri) : undefined;
    if (uri !== undefined) return uri;
  }
  return undefined;
}

function byTemplate({ templates }: Registry, uri: string): Upstream | undefined {
  for (const { client, originalName } of templates.values())
    if (matchesTemplate(originalName, uri)) return client;
  return undefined;
}

function onlyOneWithResources({ upstreams }: Registry): Upstream | undefined {
  const candidates = [...upstreams.values()].filter(
    ({ capabilities }) => capabilities['resources'] !== undefined,
  );
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Another spelling of a name, or the reason why it leads nowhere. */
function resolveAlias(
  what: 'Tool' | 'Prompt',
  name: string,
  routes: ReadonlyMap<string, Route>,
  book: NameBook,
): Target | RpcError {
  const owners = book.ownersByAlias(name);
  const publicNames = owners.map((owner) => book.publicName(owner.serverKey, owner.name) ?? owner.name);
  if (owners.length > 1) return invalid(Messages.ambiguousName(what, name, publicNames));
  const route = publicNames[0] === undefined ? undefined : routes.get(publicNames[0]);
  if (route !== undefined) return route;
  const owner = book.ownerOf(name) ?? owners[0];
  if (owner !== undefined) return invalid(Messages.ownerNotRunning(what, name, owner.serverKey));
  const { separator, noPrefix } = book.rules;
  const isWellFormed = noPrefix || validateToolName(name, separator);
  return invalid(isWellFormed ? Messages.notFound(what, name) : Messages.invalidToolName(separator, name));
}

function invalid(message: string): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, message);
}
