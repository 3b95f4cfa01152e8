import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { SchemaInput, ToolModule } from '../modules/tool-module.ts';

/** Names of tools that a client is typed by; any text where it is not typed. */
export type ToolName<Tools extends readonly ToolModule[]> = Tools[number]['name'];

/** Arguments as a client sends them: what has a default may be left out, and so may an object that may be empty. */
export type CallArguments<Tools extends readonly ToolModule[], Name> =
  unknown extends Arguments<Tools, Name>
    ? [args?: Readonly<Record<string, unknown>>]
    : Record<never, never> extends Arguments<Tools, Name>
      ? [args?: Arguments<Tools, Name>]
      : [args: Arguments<Tools, Name>];

type Arguments<Tools extends readonly ToolModule[], Name> = SchemaInput<
  ToolNamed<Tools, Name>['inputSchema']
>;

type ToolNamed<Tools extends readonly ToolModule[], Name> = string extends Tools[number]['name']
  ? Tools[number]
  : Extract<Tools[number], { readonly name: Name }>;

/** Result of a call. `structuredContent` has the type of the output schema once `isError` is known not to be true. */
export type ToolAnswer<Tools extends readonly ToolModule[], Name> = (
  | { readonly isError?: false; readonly structuredContent: Output<ToolNamed<Tools, Name>> }
  | { readonly isError: true; readonly structuredContent?: unknown }
) & {
  readonly content: readonly ContentBlock[];
  /** All texts of `content`, one a line. */
  readonly text: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
};

type Output<Tool> = Tool extends { readonly '~output'?: infer Value } ? Exclude<Value, undefined> : unknown;

export function toolAnswer<Tools extends readonly ToolModule[], Name>(
  result: CallToolResult,
): ToolAnswer<Tools, Name> {
  const texts = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return { ...result, text: texts.join('\n') } as ToolAnswer<Tools, Name>;
}
