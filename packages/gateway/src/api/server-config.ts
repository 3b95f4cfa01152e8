import type { McpConfig, ServerConfig } from '../config/config.generated.ts';
import type { ServerReport } from '../gateway/control.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { transportOf, type ServerPlace } from '../upstream/transports.ts';

/** A section of documents that belongs to a server. */
export interface SectionBinding {
  readonly sectionType: 'heading' | 'block' | 'range';
  readonly headingText?: string;
  readonly blockId?: string;
  readonly startLine?: number;
  readonly endLine?: number;
  /** Key of the server. */
  readonly serverId: string;
  /** Binds the sections inside this one, too. */
  readonly inheritToChildren: boolean;
  /** Pattern of the documents in which the binding holds; all, where it is absent. */
  readonly documentPath?: string;
}

/** A server: what the config says of it, and what has become of it. */
export interface MCPServerConfig extends ServerPlace {
  /** Its key in the config. */
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  /** When it was last connected, in milliseconds since 1970; kept after a loss and over restarts of the gateway. */
  readonly lastConnectedAt?: number;
  readonly failureCount: number;
  /** Disabled by the rule, after too many failures. */
  readonly autoDisabled: boolean;
  readonly sectionBindings: SectionBinding[];
}

/** All servers of the config, also those that it leaves out. */
export function serverConfigs(gateway: Pick<Gateway, 'config' | 'reports'>): MCPServerConfig[] {
  const reports = new Map(gateway.reports().map((report) => [report.serverKey, report]));
  const { config } = gateway;
  return Object.entries(config.mcpServers).map(([id, entry]) => ({
    ...describe(id, entry, reports.get(id)),
    sectionBindings: bindingsOf(id, config),
  }));
}

/** Returns the bindings under the server and those at the top level that name it, with all that they leave out. */
function bindingsOf(id: string, { mcpServers, sectionBindings: common = [] }: McpConfig): SectionBinding[] {
  const { sectionBindings: own = [] } = mcpServers[id] ?? {};
  const all = [...own, ...common.filter(({ serverId }) => serverId === id)];
  return all.map((binding) => ({ inheritToChildren: true, ...binding, serverId: id }));
}

type Described = Omit<MCPServerConfig, 'sectionBindings'>;

function describe(id: string, entry: ServerConfig, report: ServerReport | undefined): Described {
  const { lastConnectedAt } = report ?? {};
  return {
    id,
    name: entry.name ?? id,
    ...transportOf(entry).describe(id, entry),
    enabled: report?.enabled ?? false,
    ...(lastConnectedAt !== undefined && { lastConnectedAt }),
    failureCount: report?.failureCount ?? 0,
    autoDisabled: report?.autoDisabled ?? false,
  };
}
