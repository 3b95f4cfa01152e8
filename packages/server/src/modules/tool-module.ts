import type {
  CallToolResult,
  ContentBlock,
  Icon,
  InputRequiredResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';

/** A tool: its name, its schemas and its handler together. `defineTool` infers the types from the schemas. */
export interface ToolModule<In = unknown, Out = unknown, Ctx = ToolContext> {
  /** 1 to 128 letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  readonly description: string;
  /** Schema of the arguments: of zod, or any other that follows Standard Schema, as `fromJsonSchema` of the SDK returns. */
  readonly inputSchema: InputSchemaLike<In>;
  /** Schema of `structuredContent`. Clients get the parsed value: without unknown fields, with defaults. */
  readonly outputSchema?: OutputSchemaLike<Out>;
  readonly title?: string;
  readonly annotations?: ToolAnnotations;
  readonly icons?: Icon[];
  readonly _meta?: Record<string, unknown>;
  // A method, so that modules of different types fit into one `ToolModule[]`.
  handler(args: In, extra: ToolExtra, context: Ctx): MaybePromise<ToolReturn<Out>>;
}

/** The function of a tool: parsed arguments, the request's context of the SDK, and the context of `registerTools`. */
export type ToolHandler<In = unknown, Out = unknown, Ctx = ToolContext> = ToolModule<In, Out, Ctx>['handler'];

/** The object that `registerTools` passes to each handler: a database, clients, settings. Any object is one. */
export type ToolContext = object;

/** The SDK's context of a request: `mcpReq.signal`, `mcpReq.notify`, `http.authInfo` and so on. */
export type ToolExtra = ServerContext;

/** Any schema of arguments that follows Standard Schema and can be shown as JSON Schema, as those of zod do. */
export type InputSchemaLike<In = unknown> = StandardSchemaWithJSON<unknown, In>;

/** Any schema of results that follows Standard Schema and can be shown as JSON Schema, as those of zod do. */
export type OutputSchemaLike<Out = unknown> = StandardSchemaWithJSON<Out, unknown>;

/**
 * Values that a handler may return: the structured value alone, which also becomes the text, or a whole result. Without
 * an output schema, `Out` is a text or a result with content.
 */
export type ToolReturn<Out> = Out | StructuredToolResult<Out> | FailedToolResult | QuestionResult;

/** A result of `inputRequired` of the SDK, which asks the client for something. */
export interface QuestionResult extends Pick<InputRequiredResult, 'inputRequests' | 'requestState'> {
  // Named members only: beside any others, the compiler would not keep the `'success'` of a result that a handler returns.
  readonly resultType: 'input_required';
}

/** A whole result with typed `structuredContent`; `content` is filled in where it is left out. */
export interface StructuredToolResult<Out> {
  readonly structuredContent: Out;
  readonly content?: ContentBlock[];
  readonly isError?: boolean | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
}

/** A result that tells the model of a failure. Its `structuredContent` need not follow the output schema. */
export interface FailedToolResult {
  readonly isError: true;
  readonly content: ContentBlock[];
  readonly structuredContent?: unknown;
  readonly _meta?: Record<string, unknown> | undefined;
}

/** A module as `defineTool` returns it: it keeps the literal name and the schemas, which type the client of a test. */
export interface DefinedTool<
  Name extends string,
  Input extends InputSchemaLike,
  Output extends OutputSchemaLike | undefined,
  Ctx,
> extends ToolModule<SchemaOutput<Input>, HandlerOutput<Output>, Ctx> {
  readonly name: Name;
  readonly inputSchema: Input & InputSchemaLike<SchemaOutput<Input>>;
  // Only a type: tells the client of a test which value it gets.
  readonly '~output'?: SchemaOutput<Output>;
}

/** The parts of a tool that `defineTool` takes. */
export interface ToolDefinition<
  Name extends string,
  Input extends InputSchemaLike,
  Output extends OutputSchemaLike | undefined,
  Ctx,
  Literal,
> extends Omit<ToolModule, 'name' | 'inputSchema' | 'outputSchema' | 'handler'> {
  readonly name: Name;
  readonly inputSchema: Input;
  readonly outputSchema?: Output;
  handler(
    args: SchemaOutput<Input>,
    extra: ToolExtra,
    context: Ctx,
  ): MaybePromise<DefinedReturn<Output> | LiteralHint<Literal>>;
}

// Apart from `ToolReturn`, because a condition there would keep modules of different types out of one array.
type DefinedReturn<Output> = Output extends StandardSchemaWithJSON
  ? ToolReturn<SchemaInput<Output>>
  : string | CallToolResult | QuestionResult;

/** Keeps the compiler from widening `type: 'success'` to a text while it infers the schema. No value is of this type. */
type LiteralHint<Literal> = Readonly<Record<string, HintedMember<Literal>>> & {
  readonly [doesNotMatchOutputSchema]: never;
};

type HintedMember<Literal> =
  | Literal
  | readonly HintedMember<Literal>[]
  | { readonly [member: string]: HintedMember<Literal> };

// Its name stands in the compiler's message about a wrong handler.
declare const doesNotMatchOutputSchema: unique symbol;

/** The type that a schema accepts. */
export type SchemaInput<Schema> = Schema extends StandardSchemaWithJSON
  ? StandardSchemaWithJSON.InferInput<Schema>
  : never;

/** The value that a handler makes for an output schema, or for none. */
type HandlerOutput<Schema> = Schema extends StandardSchemaWithJSON
  ? StandardSchemaWithJSON.InferInput<Schema>
  : string | CallToolResult;

/** The type that a schema returns; `undefined` stands for no schema. */
export type SchemaOutput<Schema> = Schema extends StandardSchemaWithJSON
  ? StandardSchemaWithJSON.InferOutput<Schema>
  : undefined;

export type MaybePromise<T> = T | Promise<T>;

/** Returns the same object, typed by its schemas: a handler that returns what they forbid does not compile. */
export function defineTool<
  const Name extends string,
  Input extends InputSchemaLike,
  Output extends OutputSchemaLike | undefined = undefined,
  Ctx = ToolContext,
  Literal extends string | number | boolean = never,
>(tool: ToolDefinition<Name, Input, Output, Ctx, Literal>): DefinedTool<Name, Input, Output, Ctx> {
  return tool as unknown as DefinedTool<Name, Input, Output, Ctx>;
}
