import type { Handling } from './module-context.ts';

/** A tool, a resource or a prompt. All handlers have the same places: input, request, context. */
export interface AnyModule extends Handling {
  readonly name: string;
}

/** Calls the wrapped handler; with a context, that one instead of the server's. */
export type CallHandler = (context?: object) => Promise<unknown>;

/** Request of the protocol and context of the server, as each handler gets them. */
export interface HandlerCall {
  readonly extra: unknown;
  readonly context: object;
}

/** Returns a copy of a module whose handler runs inside another function; the given module stays as it is. */
export function wrapHandler<Module extends AnyModule>(
  module: Module,
  around: (input: unknown, call: CallHandler, given: HandlerCall) => Promise<unknown>,
): Module {
  const inner = module as unknown as { handler(input: unknown, extra: unknown, context: object): unknown };
  return {
    ...module,
    handler: async (input: unknown, extra: unknown, context: object) =>
      await around(input, async (own = context) => await inner.handler(input, extra, own), {
        extra,
        context,
      }),
  };
}

/** Names a module for a log: "tool 'search'". */
export function labelOf(module: AnyModule): string {
  return `${kindOf(module)} '${module.name}'`;
}

/** Tells the kinds apart by the members that only one of them has. */
export function kindOf(module: AnyModule): 'tool' | 'resource' | 'prompt' {
  if ('inputSchema' in module) return 'tool';
  return 'uri' in module || 'template' in module ? 'resource' : 'prompt';
}
