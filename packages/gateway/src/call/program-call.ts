import { RpcError } from '../errors.ts';
import { decode, encode } from '../wire/splice.ts';
import { TOOL_FAILURE } from './failure.ts';
import type { Invocation } from './history.ts';
import type { InvocationSource } from './invocation.ts';
import { resolveTool, type Directory } from './resolve.ts';

/** What a program calls, and on whose behalf. */
export interface ProgramCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly source: InvocationSource;
}

/** A call that a program makes itself, by a tool's public name. */
export async function callFromProgram(
  directory: Directory,
  { name, args, source }: ProgramCall,
): Promise<unknown> {
  const { history, limits } = directory;
  if (limits?.refusal !== undefined) throw limits.refusal;
  const target = resolveTool(directory, name);
  if (target instanceof RpcError) throw target;
  const { client, originalText: toolText } = target;
  const argumentsText = history.keepsArguments ? encode(args) : undefined;
  const call = history.begin({ serverId: client.serverKey, toolText, source, argumentsText });
  return noted(call, () => client.callTool({ name: decode(toolText), arguments: args }));
}

async function noted(call: Invocation, run: () => Promise<unknown>): Promise<unknown> {
  call.started();
  try {
    const result = await run();
    const hasFailed = (result as { isError?: unknown } | undefined)?.isError === true;
    call.ended('success', hasFailed ? TOOL_FAILURE : undefined);
    return result;
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown };
    call.ended('error', typeof code === 'number' ? { message, code } : { message });
    throw error;
  }
}
