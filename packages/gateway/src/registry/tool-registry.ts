import type { Listed, ToolSchema } from '../upstream/catalogue/catalogue.ts';
import { readItem } from '../upstream/catalogue/read-list.ts';
import type { ServerClient } from '../upstream/upstream.ts';
import { DEFAULT_SEPARATOR, joinName } from './names.ts';
import { Route, type ToolRegistryEntry } from './route.ts';
import type { PublicUri } from './uris.ts';

export type ToolRegistry = Map<string, ToolRegistryEntry>;

/** Names what a server lists; undefined holds the entry back. */
type NameOf = (serverKey: string, name: string) => string | undefined;

export interface Naming {
  readonly nameOf: NameOf;
  readonly publicUri?: PublicUri | undefined;
}

/** Enters a server's tools under their public names; of equal names the first stays. */
// oxlint-disable-next-line max-params -- a published signature
export function addServerTools<Client extends ServerClient>(
  registry: Map<string, ToolRegistryEntry<Client>>,
  serverKey: string,
  client: Client,
  tools: readonly (ToolSchema | Listed)[],
  naming: string | Naming = DEFAULT_SEPARATOR,
): void {
  const { nameOf, publicUri } = typeof naming === 'string' ? separatedBy(naming) : naming;
  for (const tool of tools) {
    const listed = isListed(tool) ? tool : readItem(Buffer.from(JSON.stringify(tool)), 'name');
    const publicName = listed && nameOf(serverKey, listed.key);
    if (listed === undefined || publicName === undefined || registry.has(publicName)) continue;
    registry.set(publicName, new Route(client, listed, { serverKey, publicName, publicUri }));
  }
}

function separatedBy(separator: string): Naming {
  return { nameOf: (serverKey, name) => joinName(serverKey, name, separator) };
}

/** Removes what a server brought, whatever its names look like. */
export function removeServerTools(registry: Map<string, ToolRegistryEntry>, serverKey: string): void {
  for (const [name, entry] of registry) if (entry.serverKey === serverKey) registry.delete(name);
}

export function lookupTool<Entry extends ToolRegistryEntry>(
  registry: ReadonlyMap<string, Entry>,
  prefixedName: string,
): Entry | undefined {
  return registry.get(prefixedName);
}

function isListed(tool: ToolSchema | Listed): tool is Listed {
  return 'keyAt' in tool && Buffer.isBuffer(tool['page']);
}
