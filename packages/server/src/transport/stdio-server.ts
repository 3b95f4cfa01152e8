import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Logger } from '../logger.ts';
import { type AnyServer, guardFactory, type ServerFactory } from './server-factory.ts';
import { createStderrLogger } from './stderr-logger.ts';
import { createStdioWire } from './stdio-wire.ts';

export interface StdioOptions {
  /** Writes warnings and errors to stderr unless set. */
  readonly logger?: Logger | undefined;
  /** Stream of requests; the process' own by default. */
  readonly stdin?: Readable | undefined;
  /** Stream of answers; the process' own by default. */
  readonly stdout?: Writable | undefined;
  /** Time that requests in flight and unread answers get after the end of stdin; 5 s by default. */
  readonly closeTimeoutMs?: number | undefined;
}

export interface SetupStdioServerOptions extends StdioOptions {
  /** Makes the server, or is the server: stdio has one client. */
  readonly serverFactory: ServerFactory | AnyServer;
}

/** A connection on stdio. */
export interface StdioHandle {
  /** Ends the connection. */
  readonly close: () => Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5000;

/** Serves MCP on stdio, in the era of the client; resolves when stdin has ended and what was in flight is answered and read. */
export async function setupStdioServer({
  serverFactory,
  ...options
}: SetupStdioServerOptions): Promise<void> {
  await connect(serverFactory, options).closed;
}

/** Connects a server to stdio. */
export function setupStdioTransport(
  mcpServer: ServerFactory | AnyServer,
  options: StdioOptions = {},
): StdioHandle {
  const { close } = connect(mcpServer, options);
  return { close };
}

function connect(
  server: ServerFactory | AnyServer,
  options: StdioOptions,
): StdioHandle & { closed: Promise<void> } {
  // The defaults are the one place where the package touches what belongs to the process.
  const {
    stdin = process.stdin,
    stdout = process.stdout,
    closeTimeoutMs = CLOSE_TIMEOUT_MS,
    logger = createStderrLogger(),
  } = options;
  const wire = createStdioWire({ stdin, stdout, closeTimeoutMs, logger });
  const reported = new WeakSet();
  const factory = guardFactory(typeof server === 'function' ? server : () => server, logger, reported);
  const handle = serveStdio(factory, {
    transport: wire,
    onerror: (error) =>
      void (reported.has(error) || logger.warn('The connection on stdio reported an error', error)),
  });
  const close = async (): Promise<void> => {
    wire.startLimit();
    await handle.close();
  };
  return { close, closed: wire.closed };
}
