interface Named {
  readonly name: string;
}

/** Checks the names of modules and returns the modules in the order of their names; the given array stays as it is. */
export function inNameOrder<Module extends Named>(kind: string, modules: readonly Module[]): Module[] {
  const seen = new Map<string, number>();
  modules.forEach((module, index) => {
    if (!NAME.test(module.name)) throw new TypeError(badName(kind, module.name, index));
    const first = seen.get(module.name);
    if (first !== undefined) throw new TypeError(twice(kind, modules, [first, index]));
    seen.set(module.name, index);
  });
  return modules.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the memo's value for an array of modules, or makes it anew where the array holds others than it did. */
export function keptForModules<Module, Value extends { readonly modules: readonly Module[] }>(
  memo: WeakMap<readonly Module[], Value>,
  modules: readonly Module[],
  make: (snapshot: readonly Module[]) => Value,
): Value {
  const known = memo.get(modules);
  if (known !== undefined && isSame(known.modules, modules)) return known;
  const made = make([...modules]);
  memo.set(modules, made);
  return made;
}

// The specification advises these for tools, and hosts refuse others.
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

function isSame<Module>(one: readonly Module[], other: readonly Module[]): boolean {
  return one.length === other.length && one.every((module, index) => module === other[index]);
}

function badName(kind: string, name: unknown, index: number): string {
  return `The name of ${kind} ${index + 1} is ${JSON.stringify(name)}: use 1 to 128 of A-Z, a-z, 0-9, "_", "." and "-"`;
}

function twice(kind: string, modules: readonly Named[], places: [number, number]): string {
  const [first, second] = places.map((index) => described(modules[index]));
  const [one, other] = places.map((index) => index + 1);
  return `Two ${kind}s have one name: ${kind} ${one} (${first}) and ${kind} ${other} (${second}). Rename one of them`;
}

function described(module: (Named & { readonly description?: string }) | undefined): string {
  return `${JSON.stringify(module?.name)}: ${JSON.stringify(module?.description ?? '')}`;
}
