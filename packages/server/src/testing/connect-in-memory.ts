import type { Client } from '@modelcontextprotocol/client';
import type { GetPromptResult, ReadResourceResult, Resource, Tool } from '@modelcontextprotocol/server';
import type { ToolModule } from '../modules/tool-module.ts';
import { answerQuestions, type ClientAnswers } from './client-answers.ts';
import { importClient } from './import-client.ts';
import { joinLegacy, joinModern, type Link, type TestServerFactory } from './in-memory-link.ts';
import { type CallArguments, type ToolAnswer, toolAnswer, type ToolName } from './tool-answer.ts';

export interface InMemoryOptions<Tools extends readonly ToolModule[]> extends ClientAnswers {
  /** Types `callTool` by these tools. Only their types are used. */
  readonly tools?: Tools;
  /** Era of the protocol: `modern` is 2026-07-28, `legacy` is 2025-11-25. Default: modern. */
  readonly era?: 'modern' | 'legacy';
  /** Identity of the caller, which handlers find in `extra.http.authInfo`. */
  readonly authInfo?: Link['authInfo'];
  /** Gets errors of the server that its clients do not see. */
  onerror?(error: Error): void;
}

/** A client of a server in the same process. */
export interface InMemoryClient<Tools extends readonly ToolModule[]> extends AsyncDisposable {
  /** The SDK's client, for all that has no method here. */
  readonly client: Client;
  /** Calls a tool, and checks its structured content by its output schema as real clients do. */
  callTool<Name extends ToolName<Tools>>(
    name: Name,
    ...args: CallArguments<Tools, Name>
  ): Promise<ToolAnswer<Tools, Name>>;
  listTools(): Promise<Tool[]>;
  listResources(): Promise<Resource[]>;
  readResource(uri: string): Promise<ReadResourceResult>;
  getPrompt(name: string, args?: Record<string, string>): Promise<GetPromptResult>;
  close(): Promise<void>;
}

/**
 * Connects the SDK's client to a server without a process and without a port, in milliseconds. The factory runs as it
 * does on HTTP: for each request of the modern era, once for the legacy era.
 */
export async function connectInMemory<const Tools extends readonly ToolModule[] = readonly ToolModule[]>(
  serverFactory: TestServerFactory,
  options: InMemoryOptions<Tools> = {},
): Promise<InMemoryClient<Tools>> {
  const sdk = await importClient();
  const { era = 'modern', authInfo } = options;
  const client = new sdk.Client(
    { name: 'in-memory-test', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );
  answerQuestions(client, options);
  const link: Link = { serverFactory, authInfo, onerror: (error) => options.onerror?.(error) };
  const joined = await (era === 'modern' ? joinModern(sdk, client, link) : joinLegacy(client, link));
  return typedClient(client, async () => {
    await client.close();
    await joined.close();
  });
}

function typedClient<Tools extends readonly ToolModule[]>(
  client: Client,
  close: () => Promise<void>,
): InMemoryClient<Tools> {
  // The client checks results by the schemas of the last list.
  let tools: Promise<Tool[]> | undefined;
  const listTools = async (): Promise<Tool[]> => (await client.listTools()).tools;
  return {
    client,
    async callTool(name, ...[args]) {
      tools ??= listTools();
      await tools;
      return toolAnswer(await client.callTool({ name, arguments: { ...(args as object | undefined) } }));
    },
    listTools,
    listResources: async () => (await client.listResources()).resources,
    readResource: async (uri) => await client.readResource({ uri }),
    getPrompt: async (name, args) => await client.getPrompt({ name, ...(args && { arguments: args }) }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
