import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import { createHttpError } from '../errors/http-error.ts';
import { describeIssues } from '../errors/issues.ts';
import { fillContent, type ToolResultDraft } from '../results/fill-content.ts';
import type { OutputSchemaLike, ToolModule } from './tool-module.ts';

/** Makes the result of a tool from the value that its handler returned, checked by its output schema. */
export async function toolResult(
  tool: ToolModule,
  returned: unknown,
): Promise<CallToolResult | InputRequiredResult> {
  if (isInputRequiredResult(returned)) return returned;
  if (isFailure(returned)) return withSoundMembers(tool.name, returned);
  return tool.outputSchema === undefined
    ? plainResult(tool.name, returned)
    : await structuredResult(tool.name, tool.outputSchema, returned);
}

/** Tells the model which arguments to correct. The specification asks for a result, as models do not see protocol errors. */
export function refusedArguments(tool: string, reasons: string): CallToolResult {
  const message = `Invalid arguments for tool '${tool}': ${reasons}`;
  return {
    content: [{ type: 'text', text: message }],
    structuredContent: { type: 'error', message, code: 'INVALID_REQUEST' },
    isError: true,
  };
}

/** Takes an error's structured part out where the output schema refuses it: clients of the legacy era check it all the same. */
export async function forLegacyClient(tool: ToolModule, result: CallToolResult): Promise<CallToolResult> {
  const { structuredContent, ...rest } = result;
  if (result.isError !== true || structuredContent === undefined || tool.outputSchema === undefined) {
    return result;
  }
  const outcome = await tool.outputSchema['~standard'].validate(structuredContent);
  return outcome.issues === undefined ? result : rest;
}

function plainResult(tool: string, returned: unknown): CallToolResult {
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }] };
  if (isRecord(returned) && Array.isArray(returned['content'])) {
    return fillContent(withSoundMembers(tool, returned));
  }
  throw new TypeError(
    `The handler of tool '${tool}' returned ${kindOf(returned)}: return a text or a result with content, or give the tool an outputSchema`,
  );
}

async function structuredResult(
  tool: string,
  schema: OutputSchemaLike,
  returned: unknown,
): Promise<CallToolResult> {
  const isWhole = isRecord(returned) && 'structuredContent' in returned;
  const outcome = await schema['~standard'].validate(isWhole ? returned['structuredContent'] : returned);
  if (outcome.issues !== undefined)
    throw serverFault(
      `The result of tool '${tool}' does not match its output schema`,
      describeIssues(outcome.issues),
    );
  const whole: ToolResultDraft = isWhole ? withSoundMembers(tool, returned) : {};
  // The parsed value: clients refuse fields that the schema does not name.
  return fillContent({ ...whole, structuredContent: outcome.value });
}

/**
 * Returns a result that a handler made, and refuses what the protocol does not know in it: the SDK would call that a
 * mistake of the client, in kilobytes.
 */
function withSoundMembers<Draft extends ToolResultDraft>(tool: string, draft: Draft): Draft {
  const fault = faultOf(draft);
  if (fault === undefined) return draft;
  throw serverFault(`The result of tool '${tool}' does not fit the protocol`, fault);
}

function faultOf({ content, isError, _meta }: Readonly<Record<string, unknown>>): string | undefined {
  if (isError !== undefined && typeof isError !== 'boolean') return 'isError: neither true nor false';
  if (_meta !== undefined && !isRecord(_meta)) return '_meta: not an object';
  if (content === undefined) return undefined;
  if (!Array.isArray(content)) return 'content: not a list';
  for (const [index, item] of content.entries()) {
    const { issues } = specTypeSchemas.ContentBlock['~standard'].validate(item);
    if (issues !== undefined) return `content[${index}]: ${describeIssues(issues)}`;
  }
  return undefined;
}

/** The client learns that the server is at fault; only the log gets the reasons, as the cause. */
function serverFault(message: string, reasons: string): Error {
  return createHttpError(500, message, new Error(reasons));
}

function isFailure(returned: unknown): returned is CallToolResult {
  return isRecord(returned) && returned['isError'] === true && Array.isArray(returned['content']);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
