import type { ServerConfig, ServerKind } from '../config/config.generated.ts';
import { shownAddress, withoutRemoteSecrets } from '../config/redact.ts';
import { serverKind } from '../config/server-kind.ts';
import type { Era } from '../protocol/eras.ts';
import type { StartLimit } from '../time/deadline.ts';
import type { Connection, OpenOptions } from './connection.ts';
import { containerSpec } from './container/container-spec.ts';
import { isLauncher } from './process/launcher.ts';
import { openProcess } from './process/process-connection.ts';

/** Everything that depends on the kind of a server, but for the rules of its config (`config/server-kind`, `config/rules`). */
export interface Transport {
  /** True where a second connection reaches the same server, and so starts nothing. Its connection has `isUnreachable`. */
  readonly isRemote: boolean;
  /** Starts a server, or prepares to reach it: an address is not reached yet when this resolves, see `Connection.raceExit`. */
  open(options: OpenOptions): Promise<Connection>;
  /** Returns the program or address of a server: the key of what is remembered of it, whatever its entry is called. */
  identity(config: ServerConfig): Identity;
  /** Returns the limits of a start, unless the entry or the command line sets one. */
  timeouts(config: ServerConfig): StartupTimeouts;
  /** Hides the secrets of an entry in a text that came from its server. */
  hideSecrets(text: string, config: ServerConfig): string;
  /** Returns the era of a server where its entry decides it. */
  era?(config: ServerConfig): Era | undefined;
  /** Describes for programs where a server runs and how the gateway speaks to it. */
  describe(serverKey: string, config: ServerConfig): ServerPlace;
}

interface Identity {
  readonly command: string;
  readonly args: readonly string[];
}

/** Limits of a start and of an unanswered probe, in milliseconds. */
export interface StartupTimeouts extends StartLimit {
  readonly probe: number;
}

export interface ServerPlace {
  readonly transport: 'stdio' | 'sse' | 'streamable-http';
  /** `managed` for a container that the gateway starts, `external` for a server at an address; absent for a program. */
  readonly deploymentType?: 'managed' | 'external';
  readonly dockerConfig?: {
    readonly image: string;
    readonly containerName: string;
    readonly command?: string[];
    readonly ports?: Record<string, number>;
  };
  readonly sseConfig?: { readonly url: string };
}

const LOCAL_TIMEOUTS: StartupTimeouts = { startup: 5000, longest: 30_000, probe: 2000 };
/** For programs that may download the server first. */
const LAUNCHER_TIMEOUTS: StartupTimeouts = { startup: 60_000, longest: 60_000, probe: 30_000 };
/** For servers that the first request may have to wake, and for containers. */
const REMOTE_TIMEOUTS: StartupTimeouts = { startup: 30_000, longest: 30_000, probe: 10_000 };

/** A program that the gateway starts and speaks to through pipes. */
const PROCESS: Transport = {
  isRemote: false,
  open: openProcess,
  identity: ({ command = '', args = [] }) => ({ command, args }),
  timeouts: ({ command = '', args = [] }) => (isLauncher(command, args) ? LAUNCHER_TIMEOUTS : LOCAL_TIMEOUTS),
  hideSecrets: (text) => text,
  describe: () => ({ transport: 'stdio' }),
};

/** A server at an address. Its code is loaded with the first one, because most gateways have none. */
const REMOTE: Transport = {
  isRemote: true,
  open: async (options) => (await import('./remote/remote-connection.ts')).reachServer(options),
  identity: ({ url, sseConfig }) => ({ command: 'url', args: [url ?? sseConfig?.url ?? ''] }),
  timeouts: () => REMOTE_TIMEOUTS,
  hideSecrets: withoutRemoteSecrets,
  // HTTP+SSE is older than the probe for the era.
  era: ({ url, sseConfig }) => (url === undefined && sseConfig !== undefined ? 'legacy' : undefined),
  describe: (_, { url, sseConfig }) => ({
    transport: url === undefined ? 'sse' : 'streamable-http',
    deploymentType: 'external',
    sseConfig: { url: shown(url ?? sseConfig?.url ?? '') },
  }),
};

/** A container that the gateway starts. Its code is loaded with the first one, too. */
const CONTAINER: Transport = {
  isRemote: false,
  open: async (options) => (await import('./container/start-container.ts')).openContainer(options),
  identity: ({ image = '', args = [], dockerConfig }) => ({
    command: 'image',
    args: [dockerConfig?.image ?? image, ...(dockerConfig?.command ?? args)],
  }),
  timeouts: () => REMOTE_TIMEOUTS,
  hideSecrets: withoutRemoteSecrets,
  describe: describeContainer,
};

const TRANSPORTS: Readonly<Record<ServerKind, Transport>> = {
  command: PROCESS,
  remote: REMOTE,
  container: CONTAINER,
};

/** Returns the transport of a server that has passed validation. */
export function transportOf(config: ServerConfig): Transport {
  return TRANSPORTS[serverKind(config)];
}

/** Returns the limits of a start. One that the entry or, after it, the command line sets is kept to the letter. */
export function startupTimeouts(config: ServerConfig, startupTimeout: number | undefined): StartupTimeouts {
  const usual = transportOf(config).timeouts(config);
  const fixed = config.startupTimeout ?? startupTimeout;
  return fixed === undefined ? usual : { ...usual, startup: fixed, longest: fixed };
}

function shown(address: string): string {
  return URL.canParse(address) ? shownAddress(new URL(address)) : '';
}

function describeContainer(serverKey: string, config: ServerConfig): ServerPlace {
  const { command, ports } = config.dockerConfig ?? {};
  const { image, name, http } = containerSpec(serverKey, config);
  return {
    transport: http === undefined ? 'stdio' : http.isSse ? 'sse' : 'streamable-http',
    deploymentType: 'managed',
    dockerConfig: {
      image,
      containerName: name,
      ...(command !== undefined && { command }),
      ...(ports !== undefined && { ports }),
    },
  };
}
