/** Arguments after the modules: a context is required where a handler asks for one. */
export type ContextArguments<Modules extends readonly Handling[], Options> =
  object extends ContextOf<Modules>
    ? [context?: ContextOf<Modules>, options?: Options]
    : [context: ContextOf<Modules>, options?: Options];

/** The context that all handlers of some modules can work with. */
type ContextOf<Modules extends readonly Handling[]> =
  Asked<Modules[number]> extends (context: infer Context) => void ? Context : never;

/** Any module: each kind of handler gets its input first, then the request's context, then the server's. */
export interface Handling {
  handler(input: never, extra: never, context: never): unknown;
}

// A union of functions infers the intersection of their parameters.
type Asked<Module> = Module extends { handler(input: never, extra: never, context: infer Context): unknown }
  ? (context: Context) => void
  : never;
