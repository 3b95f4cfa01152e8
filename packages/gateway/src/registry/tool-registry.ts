import { readItem, type Listed } from '../upstream/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { DEFAULT_SEPARATOR, joinName } from './names.ts';

export interface JSONSchema {
  type: string;
  properties?: Record<string, unknown>;
  required?: string[];
  [key: string]: unknown;
}

/** A tool as servers list it; whatever else a definition holds is there too. */
export interface ToolSchema {
  name: string;
  description?: string;
  inputSchema: JSONSchema;
  [key: string]: unknown;
}

/** Where a public name leads. */
export interface ToolRegistryEntry {
  readonly client: Upstream;
  readonly serverKey: string;
  readonly originalName: string;
  /** The definition under its public name, parsed when first looked at. */
  readonly schema: ToolSchema;
}

export type ToolRegistry = Map<string, ToolRegistryEntry>;

/** Names what a server lists; undefined holds the entry back. */
export type NameOf = (serverKey: string, name: string) => string | undefined;

/** Enters a server's tools under their public names; of equal names the first stays. */
// oxlint-disable-next-line max-params -- a published signature
export function addServerTools(
  registry: Map<string, ToolRegistryEntry>,
  serverKey: string,
  client: Upstream,
  tools: readonly (ToolSchema | Listed)[],
  naming: string | NameOf = DEFAULT_SEPARATOR,
): void {
  const nameOf: NameOf = typeof naming === 'string' ? (key, name) => joinName(key, name, naming) : naming;
  for (const tool of tools) {
    const listed = isListed(tool) ? tool : readItem(Buffer.from(JSON.stringify(tool)), 'name');
    const publicName = listed && nameOf(serverKey, listed.key);
    if (listed === undefined || publicName === undefined || registry.has(publicName)) continue;
    registry.set(publicName, new Route(client, listed, publicName));
  }
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

/** One entry of the registry: a tool, a prompt, a resource or a template, and the server that has it. */
export class Route implements ToolRegistryEntry {
  readonly client: Upstream;
  readonly publicName: string;
  readonly #listed: Listed;
  #schema: ToolSchema | undefined;

  constructor(client: Upstream, listed: Listed, publicName: string) {
    this.client = client;
    this.publicName = publicName;
    this.#listed = listed;
  }

  get serverKey(): string {
    return this.client.serverKey;
  }

  get originalName(): string {
    return this.#listed.key;
  }

  /** The original name as JSON, one character a byte, ready to be spliced into a request. */
  get originalText(): string {
    const { page, keyAt, keyEnd } = this.#listed;
    return page.toString('latin1', keyAt, keyEnd);
  }

  get schema(): ToolSchema {
    this.#schema ??= JSON.parse(this.definition().toString('utf8')) as ToolSchema;
    return this.#schema;
  }

  /** The definition as the server wrote it, but for its name. */
  definition(): Buffer {
    const { page, at, end, key, keyAt, keyEnd } = this.#listed;
    if (key === this.publicName) return page.subarray(at, end);
    const name = Buffer.from(JSON.stringify(this.publicName));
    return Buffer.concat([page.subarray(at, keyAt), name, page.subarray(keyEnd, end)]);
  }
}

function isListed(tool: ToolSchema | Listed): tool is Listed {
  return 'keyAt' in tool && Buffer.isBuffer(tool['page']);
}
