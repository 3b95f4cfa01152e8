/**
 * Joins functions that wrap modules: `compose(a, b)(module)` is `a(b(module))`, so that the first is the outermost.
 * The result fits tools, resources and prompts where each of the functions does.
 */
export function compose<A, B, C>(outer: (module: B) => C, inner: (module: A) => B): (module: A) => C;
export function compose<A, B, C, D>(
  outer: (module: C) => D,
  middle: (module: B) => C,
  inner: (module: A) => B,
): (module: A) => D;
export function compose(
  ...wrappers: readonly ((module: unknown) => unknown)[]
): (module: unknown) => unknown {
  return (module) => wrappers.reduceRight((wrapped, wrap) => wrap(wrapped), module);
}
