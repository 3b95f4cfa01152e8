import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type Tool,
} from '@modelcontextprotocol/server';
import { describeIssues } from '../errors/issues.ts';
import { handleToolError } from '../errors/tool-error.ts';
import type { Logger } from '../logger.ts';
import { inNameOrder, keptForModules } from './catalogue.ts';
import { parseArguments } from './input.ts';
import { inputJsonSchema, outputJsonSchema } from './json-schema.ts';
import { claim, lowLevel, type ModuleServer, type RegisterOptions } from './low-level.ts';
import type { ContextArguments } from './module-context.ts';
import { quoted } from './quoted.ts';
import type { ToolContext, ToolExtra, ToolModule } from './tool-module.ts';
import { forLegacyClient, refusedArguments, toolResult } from './tool-result.ts';

/** Options of `registerTools`, `registerResources` and `registerPrompts`. */
export interface ModuleOptions extends RegisterOptions {
  /** Gets errors with their stacks, which clients never see. */
  readonly logger?: Logger | undefined;
}

/**
 * Answers `tools/list` and `tools/call` from modules. `context` is passed to each handler.
 * Costs a few microseconds from the second time on, so that a factory may call it for each request.
 */
export function registerTools<const Modules extends readonly ToolModule[]>(
  server: ModuleServer,
  modules: Modules,
  ...[context, options = {}]: ContextArguments<Modules, ModuleOptions>
): void {
  const catalogue = toolCatalogue(modules);
  const low = lowLevel(server);
  claim(low, 'tools', ['tools/list', 'tools/call'], options);
  const call: Call = { server: low, catalogue, context: context ?? {}, logger: options.logger };
  low.setRequestHandler('tools/list', () => ({ tools: listed(catalogue) }));
  low.setRequestHandler('tools/call', async ({ params }, extra) => await callTool(call, params, extra));
  // The HTTP entry of the SDK checks `Mcp-Param-*` headers by the schema that it asks for here.
  if ('server' in server) server.toolInputSchemaJson = (name) => headerSchema(catalogue, name);
}

interface ToolCatalogue {
  readonly modules: readonly ToolModule[];
  readonly byName: ReadonlyMap<string, ToolModule>;
  tools?: Tool[];
}

interface Call {
  readonly server: Server;
  readonly catalogue: ToolCatalogue;
  readonly context: ToolContext;
  readonly logger: Logger | undefined;
}

// Keyed by the caller's array: a factory that runs for each request checks and sorts its modules once.
const catalogues = new WeakMap<readonly ToolModule[], ToolCatalogue>();

function toolCatalogue(modules: readonly ToolModule[]): ToolCatalogue {
  return keptForModules(catalogues, modules, (snapshot) => ({
    modules: snapshot,
    byName: new Map(inNameOrder('tool', snapshot).map((tool) => [tool.name, tool])),
  }));
}

/** Returns the tools of the list. Made at the first list, because schemas take long to convert. */
function listed(catalogue: ToolCatalogue): Tool[] {
  catalogue.tools ??= [...catalogue.byName.values()].map(listedTool);
  return catalogue.tools;
}

function listedTool(tool: ToolModule): Tool {
  const { name, title, description, annotations, icons, _meta, inputSchema, outputSchema } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: shown(name, 'inputSchema', () => inputJsonSchema(inputSchema)),
    ...(outputSchema !== undefined && {
      outputSchema: shown(name, 'outputSchema', () => outputJsonSchema(outputSchema)),
    }),
    ...(annotations !== undefined && { annotations }),
    ...(icons !== undefined && { icons }),
    ...(_meta !== undefined && { _meta }),
  };
}

function shown<Json>(tool: string, field: string, convert: () => Json): Json {
  try {
    return convert();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      `Tool '${tool}' cannot be listed: its ${field} has no JSON Schema (${reason})`,
    );
  }
}

async function callTool(
  call: Call,
  params: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
  extra: ToolExtra,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = call.catalogue.byName.get(params.name);
  if (tool === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool '${quoted(params.name)}' not found`);
  }
  const result = await outcomeOf(call, tool, params.arguments, extra);
  if (isInputRequiredResult(result) || extra.mcpReq.envelope !== undefined) return result;
  return await inLegacyShape(call.server, tool, result);
}

async function outcomeOf(
  call: Call,
  tool: ToolModule,
  args: unknown,
  extra: ToolExtra,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const input = await parseArguments(tool.inputSchema, args);
    if (input.issues !== undefined) return refused(call, tool, describeIssues(input.issues));
    return await toolResult(tool, await tool.handler(input.value, extra, call.context));
  } catch (error) {
    // Nothing is sent for a cancelled call, and its error is the cancellation.
    if (extra.mcpReq.signal.aborted) throw error;
    return handleToolError(error, call.logger);
  }
}

/** Logs the refusal, too: an author who sees only a model's attempts would not learn why they fail. */
function refused({ logger }: Call, { name }: ToolModule, reasons: string): CallToolResult {
  logger?.info(`Tool '${name}' refused its arguments: ${reasons}`);
  return refusedArguments(name, reasons);
}

async function inLegacyShape(
  server: Server,
  tool: ToolModule,
  result: CallToolResult,
): Promise<CallToolResult> {
  const checked = await forLegacyClient(tool, result);
  if (tool.outputSchema === undefined || checked.structuredContent === undefined) return checked;
  return server.projectCallToolResult(checked, outputJsonSchema(tool.outputSchema));
}

function headerSchema(catalogue: ToolCatalogue, name: string): Record<string, unknown> | undefined {
  const tool = catalogue.byName.get(name);
  if (tool === undefined) return undefined;
  try {
    return inputJsonSchema(tool.inputSchema);
  } catch {
    // The list names the schema and the reason; without a schema there are no headers to check.
    return undefined;
  }
}
