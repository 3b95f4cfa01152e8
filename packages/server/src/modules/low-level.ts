import type { McpServer, Server, ServerCapabilities } from '@modelcontextprotocol/server';

/** Servers that modules can be registered on. */
export type ModuleServer = McpServer | Server;

/** Options of the three functions that register modules. */
export interface RegisterOptions {
  /**
   * Declares that the list may change. Without it, `notify.toolsChanged()` and its like reach no client: clients listen only
   * for what a server declares. By default modules are what they are.
   */
  readonly listChanged?: boolean;
}

/** Returns the protocol server: `McpServer` answers a thrown protocol error as a result, so its own handlers are not used. */
export function lowLevel(server: ModuleServer): Server {
  return 'server' in server ? server.server : server;
}

/** Declares a capability, and refuses a server that answers one of its methods already. */
export function claim(
  server: Server,
  capability: 'tools' | 'resources' | 'prompts',
  methods: readonly string[],
  options: RegisterOptions,
): void {
  for (const method of methods) assertFree(server, capability, method);
  const declared: ServerCapabilities = {
    [capability]: options.listChanged === true ? { listChanged: true } : {},
  };
  server.registerCapabilities(declared);
}

function assertFree(server: Server, capability: string, method: string): void {
  try {
    server.assertCanSetRequestHandler(method);
  } catch (error) {
    throw new Error(
      `This server already answers ${method}: pass all modules in one call, make a new server for each connection, ` +
        `and do not mix modules with the server's own register functions or with "${capability}" in its capabilities`,
      { cause: error },
    );
  }
}
