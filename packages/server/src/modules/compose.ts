/**
 * Joins functions that wrap modules, from left to right: `compose(a, b)(module)` is `b(a(module))`, so that the last is
 * the outermost. The result fits tools, resources and prompts where each of the functions does.
 */
export function compose<A, B, C>(first: (module: A) => B, second: (module: B) => C): (module: A) => C;
export function compose<A, B, C, D>(
  first: (module: A) => B,
  second: (module: B) => C,
  third: (module: C) => D,
): (module: A) => D;
export function compose<A, B, C, D, E>(
  first: (module: A) => B,
  second: (module: B) => C,
  third: (module: C) => D,
  fourth: (module: D) => E,
): (module: A) => E;
export function compose(
  ...wrappers: readonly ((module: unknown) => unknown)[]
): (module: unknown) => unknown {
  return (module) => wrappers.reduce((wrapped, wrap) => wrap(wrapped), module);
}
