import type { McpRequestContext, McpServer, Server } from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';

/** Either server of the SDK. */
export type AnyServer = McpServer | Server;

/** Makes a server for one client: for a request since 2026-07-28, for a session before, for a connection on stdio. */
export type ServerFactory = (context: McpRequestContext) => AnyServer | Promise<AnyServer>;

/** A factory that never returns a server twice and logs what it throws. */
export type CreateServer = (context: McpRequestContext) => Promise<AnyServer>;

/** Refuses a server in place of a factory: one server for several clients would mix up their answers. */
export function requireFactory(factory: unknown, option: string): asserts factory is ServerFactory {
  if (typeof factory === 'function') return;
  throw new TypeError(
    `${option} must be a function that makes a server for each client, because one server for all would mix up their answers. ` +
      `Write ${option}: () => createServer()`,
  );
}

/** Guards a factory. `reported` gets the errors that are logged already. */
export function guardFactory(
  factory: ServerFactory,
  logger: Logger | undefined,
  reported: WeakSet<object> = new WeakSet(),
): CreateServer {
  const seen = new WeakSet<AnyServer>();
  return async (context) => {
    try {
      const server = await factory(context);
      if (seen.has(server)) throw new Error(SAME_SERVER);
      seen.add(server);
      if (logger) logErrors(server, logger);
      return server;
    } catch (error) {
      logger?.error('The server factory failed', error);
      if (typeof error === 'object' && error !== null) reported.add(error);
      throw error;
    }
  };
}

const SAME_SERVER =
  'The server factory returned a server that it had returned before. Make a new one at each call, because one server for several clients mixes up their answers';

/** The SDK keeps errors to itself unless it is told where they go. */
function logErrors(server: AnyServer, logger: Logger): void {
  lowLevel(server).onerror ??= (error) => logger.warn('The server reported an error', error);
}

/** Returns the server beneath an `McpServer`. */
export function lowLevel(server: AnyServer): Server {
  return 'server' in server ? server.server : server;
}
