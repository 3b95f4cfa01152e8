import type * as sdkClient from '@modelcontextprotocol/client';

/** The client of the SDK: an optional peer, because only tests need it. */
export type ClientModule = typeof sdkClient;

export async function importClient(): Promise<ClientModule> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (error) {
    throw new Error(
      'connectInMemory needs the SDK\'s client: run "npm install --save-dev @modelcontextprotocol/client"',
      { cause: error },
    );
  }
}
