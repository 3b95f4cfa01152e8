import type { Client } from '@modelcontextprotocol/client';
import {
  type AuthInfo,
  createMcpHandler,
  InMemoryTransport,
  type McpServer,
  type McpRequestContext,
  type Server,
} from '@modelcontextprotocol/server';
import type { ClientModule } from './import-client.ts';

/** A factory of servers, as the transports take it. */
export type TestServerFactory = (
  context: McpRequestContext,
) => McpServer | Server | Promise<McpServer | Server>;

export interface Link {
  readonly serverFactory: TestServerFactory;
  readonly authInfo: AuthInfo | undefined;
  readonly onerror: (error: Error) => void;
}

interface Joined {
  close(): Promise<void>;
}

/** Joins by requests and responses that never leave the process: the in-memory transport speaks the legacy era only. */
export async function joinModern(sdk: ClientModule, client: Client, link: Link): Promise<Joined> {
  const { serverFactory, onerror, authInfo } = link;
  let thrown: { readonly error: unknown } | undefined;
  const factory: TestServerFactory = async (context) => {
    try {
      return await serverFactory(context);
    } catch (error) {
      thrown ??= { error };
      throw error;
    }
  };
  const handler = createMcpHandler(factory, { legacy: 'reject', onerror });
  const transport = new sdk.StreamableHTTPClientTransport(new URL('http://in-memory.invalid/mcp'), {
    fetch: async (url, init) => await handler.fetch(new Request(url, init), authInfo && { authInfo }),
  });
  try {
    await client.connect(transport);
  } catch (error) {
    // The client knows only that the server failed; the author of a test wants to know why.
    throw thrown === undefined ? error : thrown.error;
  }
  return handler;
}

/** Joins by the SDK's pair of transports, with one server for the session. */
export async function joinLegacy(
  client: Client,
  { serverFactory, onerror, authInfo }: Link,
): Promise<Joined> {
  const product = await serverFactory({ era: 'legacy', ...(authInfo && { authInfo }) });
  const server = 'server' in product ? product.server : product;
  server.onerror = onerror;
  const [near, far] = InMemoryTransport.createLinkedPair();
  if (authInfo !== undefined) {
    const send = near.send.bind(near);
    near.send = async (message, options) => await send(message, { ...options, authInfo });
  }
  await product.connect(far);
  await client.connect(near);
  return server;
}
