import {
  type CallToolResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { type AuthResult, requestAuth } from '../results/auth-response.ts';
import type { OutputSchemaLike, ToolExtra } from './tool-module.ts';
import { type AnyModule, kindOf, wrapHandler } from './wrap-handler.ts';

/** Source of access tokens; the adapters of `@weir/server/oauth` are such sources. */
export interface AccessTokens {
  getAccessToken(options?: never): string | Promise<string>;
}

export interface AuthOptions<Adapter extends AccessTokens> {
  /**
   * Options for `getAccessToken`, say an account: which one is active is the server's affair. Over HTTP, `interactive` is
   * false unless they say otherwise: a browser that opens on the server's machine is of no use to a remote client.
   */
  tokenOptions?(extra: ToolExtra, context: object): Parameters<Adapter['getAccessToken']>[0];
}

/** A module whose handler no longer asks the server's context for `accessToken`. */
export type WithoutToken<Module extends AnyModule> = Omit<Module, 'handler'> & {
  handler(
    input: Parameters<Module['handler']>[0],
    extra: Parameters<Module['handler']>[1],
    context: Omit<Parameters<Module['handler']>[2], 'accessToken'>,
  ): ReturnType<Module['handler']>;
};

/**
 * Gets an access token before each call and passes it to the handler as `context.accessToken`. Without a sign-in the
 * client gets the address to sign in at. The handler gets a copy of the context: keep it a plain object. Without a module, returns a function that wraps one.
 */
export function withAuth<Module extends AnyModule, Adapter extends AccessTokens>(
  module: Module,
  adapter: Adapter,
  options?: AuthOptions<Adapter>,
): WithoutToken<Module>;
export function withAuth<Adapter extends AccessTokens>(
  adapter: Adapter,
  options?: AuthOptions<Adapter>,
): <Module extends AnyModule>(module: Module) => WithoutToken<Module>;
export function withAuth(
  first: AnyModule | AccessTokens,
  second?: AccessTokens | AuthOptions<AccessTokens>,
  third?: AuthOptions<AccessTokens>,
): unknown {
  if ('handler' in first) return authorized(first, second as AccessTokens, third);
  return (module: AnyModule) => authorized(module, first, second as AuthOptions<AccessTokens> | undefined);
}

function authorized(
  module: AnyModule,
  adapter: AccessTokens,
  options: AuthOptions<AccessTokens> | undefined,
): AnyModule {
  return wrapHandler(module, async (_input, call, { extra, context }) => {
    try {
      const accessToken = await adapter.getAccessToken(tokenOptionsOf(options, extra as ToolExtra, context));
      return await call({ ...context, accessToken });
    } catch (error) {
      if (!isAuthRequired(error)) throw error;
      return await answer(module, error, extra as ToolExtra);
    }
  });
}

/** Adds the default over HTTP. Other options than objects belong to an adapter of the server's own and stay as they are. */
function tokenOptionsOf(
  options: AuthOptions<AccessTokens> | undefined,
  extra: ToolExtra,
  context: object,
): undefined {
  const own: unknown = options?.tokenOptions?.(extra, context);
  if (extra.http === undefined || (own !== undefined && !isObject(own))) return own as undefined;
  return { ...own, interactive: own?.['interactive'] ?? false } as unknown as undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

interface AuthRequired {
  readonly message: string;
  readonly authUrl: string;
}

/** Knows the error by its shape: it may come from another copy of the package, or from an adapter of the server's own. */
function isAuthRequired(error: unknown): error is Error & AuthRequired {
  return (
    error instanceof Error &&
    error.name === 'AuthRequiredError' &&
    'authUrl' in error &&
    typeof error.authUrl === 'string'
  );
}

async function answer(module: AnyModule, required: AuthRequired, extra: ToolExtra): Promise<unknown> {
  const { message, authUrl } = required;
  const result = await requestAuth(extra, { message, authUrl });
  if (isInputRequiredResult(result)) return result;
  if (kindOf(module) === 'tool') return await toolAnswer(module, result);
  throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message, result.structuredContent);
}

/** Marks the answer as an error where the output schema does not allow for it: as a success, clients would refuse it. */
async function toolAnswer(
  { outputSchema }: AnyModule & { readonly outputSchema?: OutputSchemaLike },
  result: AuthResult,
): Promise<CallToolResult> {
  const outcome = await outputSchema?.['~standard'].validate(result.structuredContent);
  if (outcome?.issues === undefined) return result;
  // A model that sees only the text needs the address, too.
  const address = { type: 'text', text: result.structuredContent.authUrl } as const;
  return { ...result, content: [...result.content, address], isError: true };
}
