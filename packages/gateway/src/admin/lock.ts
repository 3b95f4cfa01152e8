import type { McpConfig } from '../config/config.generated.ts';
import { checkConfig } from '../config/prepare.ts';
import { chainFor, Gateway } from '../gateway/gateway.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import { ALL_CAPABILITIES } from '../protocol/capabilities.ts';
import { entryHash } from '../upstream/fleet/desired-servers.ts';
import { lockText, type LockedPackage, type LockedServer } from '../upstream/lazy/lock-file.ts';
import type { UpstreamServer } from '../upstream/server.ts';

export interface LockOptions extends Omit<GatewayOptions, 'lazy' | 'keepGoing'> {
  /** The file that the config came from: an entry that leads back to its gateway is left out. */
  readonly configPath?: string;
  /** The entries of the servers before variables were replaced: no value of theirs is written down. */
  readonly unexpanded: Readonly<Record<string, unknown>>;
  /** The package that a server is started from, where that is known. */
  readonly packageOf?: (serverKey: string) => LockedPackage | undefined;
}

/** Starts every server of a config once, ends it, and returns the text of a lock file: what each of them offers. */
export async function createLock(config: McpConfig, options: LockOptions): Promise<string> {
  // Nothing is kept of the servers: only the chain is told which config this is.
  const { configPath: _config, ...others } = options;
  const gateway = new Gateway(checkConfig(config, options.configPath), others, chainFor(options));
  // Some servers offer more to clients that can do more.
  gateway.fronts.lifecycle.declareCapabilities(ALL_CAPABILITIES);
  try {
    await gateway.start();
    const servers = [...gateway.children.values()].map((child) => lockedServer(child, options));
    return lockText({ unexpanded: options.unexpanded, client: ALL_CAPABILITIES, servers });
  } finally {
    await gateway.close();
  }
}

function lockedServer(child: UpstreamServer, { unexpanded, packageOf }: LockOptions): LockedServer {
  const { serverKey, era, capabilities, instructions, catalogue } = child;
  return {
    serverKey,
    entry: entryHash(unexpanded[serverKey] ?? child.config),
    package: packageOf?.(serverKey),
    era,
    capabilities,
    instructions,
    catalogue,
  };
}
