import type {
  Annotations,
  BlobResourceContents,
  CacheHint,
  Icon,
  InputRequiredResult,
  ReadResourceResult,
  Resource,
  TextResourceContents,
} from '@modelcontextprotocol/server';
import type { Complete } from './completion.ts';
import type { MaybePromise, ToolContext, ToolExtra } from './tool-module.ts';

/** A resource with a fixed `uri`, or all resources whose URIs fit a `template`. */
export interface ResourceModule<Variables = TemplateVariables, Ctx = ToolContext> {
  /** 1 to 128 letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly uri?: string;
  /**
   * A URI with variables: `notes://{folder}/{id}`, `{/parts*}`, `{+path}`, `{?page}`. A query may come in any order. Of several
   * variables in one segment the first takes as much as it can.
   */
  readonly template?: string;
  /** Type of the contents. Without one, a text is `text/plain` and bytes are `application/octet-stream`. */
  readonly mimeType?: string;
  readonly title?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: Icon[];
  readonly _meta?: Record<string, unknown>;
  /** Time and audience that a client may keep the contents for; clients of the legacy era are not told. */
  readonly cacheHint?: CacheHint;
  /** Suggestions for the variables of the template. */
  readonly complete?: Readonly<Record<string, Complete>>;
  /** Resources of the template that exist, for `resources/list`. */
  list?(extra: ToolExtra, context: Ctx): MaybePromise<readonly ListedResource[]>;
  // A method, so that modules of different types fit into one `ResourceModule[]`.
  handler(request: ResourceRequest<Variables>, extra: ToolExtra, context: Ctx): MaybePromise<ResourceReturn>;
}

/** The URI that a client has asked for, and the variables of the template in it, decoded. */
export interface ResourceRequest<Variables = TemplateVariables> {
  readonly uri: string;
  readonly variables: Variables;
}

/** A resource that a template's `list` found; description and type are those of the template where it has none. */
export type ListedResource = Omit<Resource, 'name'> & { readonly name?: string };

/** Contents of a resource: text, bytes, parts with their own URIs and types; `undefined` where there is none. */
export type ResourceReturn =
  | string
  | Uint8Array
  | readonly ResourcePart[]
  | ReadResourceResult
  | InputRequiredResult
  | undefined;

/** A part of a resource. Its `uri` and `mimeType` are those of the request and of the module where it has none. */
export type ResourcePart = Partial<Pick<TextResourceContents, 'uri' | 'mimeType' | '_meta'>> &
  (Pick<TextResourceContents, 'text'> | Pick<BlobResourceContents, 'blob'>);

export type TemplateVariables = Readonly<Record<string, string | readonly string[]>>;

/** Variables of a template: lists for those with a star; those of a query may be missing. */
export type VariablesOf<Template> = string extends Template
  ? TemplateVariables
  : Template extends `${string}{${infer Expression}}${infer Rest}`
    ? ExpressionVariables<Expression> & VariablesOf<Rest>
    : unknown;

type ExpressionVariables<Expression> = Expression extends `${'?' | '&'}${infer Names}`
  ? Partial<NamedVariables<Names>>
  : Expression extends `${'+' | '#' | '.' | '/'}${infer Names}`
    ? NamedVariables<Names>
    : NamedVariables<Expression>;

type NamedVariables<Names> = Names extends `${infer First},${infer Rest}`
  ? Variable<First> & NamedVariables<Rest>
  : Variable<Names>;

type Variable<Name> = Name extends `${infer Plain}*`
  ? { readonly [Key in Plain]: readonly string[] }
  : { readonly [Key in Name & string]: string };

/** Parts of a resource as `defineResource` takes them. */
export type ResourceDefinition<Template extends string | undefined, Ctx> = Omit<
  ResourceModule<VariablesOf<Template>, Ctx>,
  'template'
> & { readonly template?: Template };

/** Returns the same object; the handler's variables are typed by the template. */
export function defineResource<const Template extends string | undefined = undefined, Ctx = ToolContext>(
  resource: ResourceDefinition<Template, Ctx>,
): ResourceModule<VariablesOf<Template>, Ctx> {
  return resource as ResourceModule<VariablesOf<Template>, Ctx>;
}
