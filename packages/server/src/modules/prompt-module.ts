import type { GetPromptResult, Icon, InputRequiredResult, PromptMessage } from '@modelcontextprotocol/server';
import type { Complete } from './completion.ts';
import type {
  InputSchemaLike,
  MaybePromise,
  SchemaInput,
  SchemaOutput,
  ToolContext,
  ToolExtra,
} from './tool-module.ts';

/** A prompt: its name, the schema of its arguments and its handler together. */
export interface PromptModule<Args = unknown, Ctx = ToolContext> {
  /** 1 to 128 letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  readonly description: string;
  /** An object whose members take texts: clients send nothing else. */
  readonly argsSchema?: InputSchemaLike<Args>;
  readonly title?: string;
  readonly icons?: Icon[];
  readonly _meta?: Record<string, unknown>;
  /** Suggestions for the arguments. */
  readonly complete?: Readonly<Record<string, Complete>>;
  // A method, so that modules of different types fit into one `PromptModule[]`.
  handler(args: Args, extra: ToolExtra, context: Ctx): MaybePromise<PromptReturn>;
}

/** A text is one message of the user. */
export type PromptReturn = string | readonly PromptMessage[] | GetPromptResult | InputRequiredResult;

/** Parts of a prompt as `definePrompt` takes them. */
export type PromptDefinition<Schema extends InputSchemaLike | undefined, Ctx> = Omit<
  PromptModule<PromptArguments<Schema>, Ctx>,
  'argsSchema'
> & { readonly argsSchema?: Schema & TextArguments<Schema> };

/** Refuses a schema with an argument that takes no text, because clients send nothing else: numbers need `z.coerce`. */
type TextArguments<Schema> = [NoText<SchemaInput<Schema>>] extends [never]
  ? unknown
  : { readonly 'clients send texts: use z.coerce for these arguments': NoText<SchemaInput<Schema>> };

type NoText<Input> = keyof {
  [Name in keyof Input as string & Input[Name] extends never ? Name : never]: true;
};

/** The parsed arguments of a prompt; without a schema there are none. */
export type PromptArguments<Schema> = Schema extends InputSchemaLike
  ? SchemaOutput<Schema>
  : Record<never, never>;

/** Returns the same object; the handler's arguments are typed by the schema. */
export function definePrompt<Schema extends InputSchemaLike | undefined = undefined, Ctx = ToolContext>(
  prompt: PromptDefinition<Schema, Ctx>,
): PromptModule<PromptArguments<Schema>, Ctx> {
  return prompt as unknown as PromptModule<PromptArguments<Schema>, Ctx>;
}
