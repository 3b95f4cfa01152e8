import * as z from 'zod';
import { invalidArgument } from './invalid-argument.ts';

/** Objects as a table: a cell that an object does not have is null. */
export interface Table {
  columns: string[];
  rows: unknown[][];
}

export type InShape<Item> = { shape: 'objects'; items: Item[] } | ({ shape: 'arrays' } & Table);

/** Builds the argument `fields`, which names the members of items that the caller wants; without it, it gets all. */
export function fieldsInput<const Field extends string>(
  allowed: readonly [Field, ...Field[]],
): z.ZodOptional<z.ZodArray<z.ZodEnum<{ [Name in Field]: Name }>>> {
  const names = z.enum(allowed as unknown as [Field, ...Field[]]);
  return z
    .array(names)
    .min(1)
    .optional()
    .describe(`Members of items: ${allowed.join(', ')}. All of them by default`);
}

/**
 * Returns copies of the items with the named fields, and with all allowed fields where none are named. A field that is not
 * allowed throws an error with the code INVALID_REQUEST that names those that are.
 */
export function pickFields<Item extends object, Field extends keyof Item & string>(
  list: readonly Item[],
  fields: readonly string[] | undefined,
  allowed: readonly Field[],
): Partial<Pick<Item, Field>>[] {
  const names = checked(fields, allowed);
  return list.map((entry) => {
    const members = names.filter((name) => Object.hasOwn(entry, name)).map((name) => [name, entry[name]]);
    // Takes __proto__ as the name of a member like any other.
    return Object.fromEntries(members) as Partial<Pick<Item, Field>>;
  });
}

/** Returns the items as columns and rows. Missing members are null, so that each row has every column. */
export function toColumns<Item extends object, Field extends keyof Item & string>(
  list: readonly Item[],
  fields: readonly string[] | undefined,
  allowed: readonly Field[],
): Table {
  const names = checked(fields, allowed);
  const cell = (entry: Item, name: Field): unknown =>
    Object.hasOwn(entry, name) ? (entry[name] ?? null) : null;
  return { columns: [...names], rows: list.map((entry) => names.map((name) => cell(entry, name))) };
}

/** Returns the items in the shape that the arguments `shape` and `fields` ask for. */
export function inShape<Item extends object, Field extends keyof Item & string>(
  list: readonly Item[],
  args: {
    readonly shape?: 'objects' | 'arrays' | undefined;
    readonly fields?: readonly string[] | undefined;
  },
  allowed: readonly Field[],
): InShape<Partial<Pick<Item, Field>>> {
  return args.shape === 'arrays'
    ? { shape: 'arrays', ...toColumns(list, args.fields, allowed) }
    : { shape: 'objects', items: pickFields(list, args.fields, allowed) };
}

function checked<Field extends string>(
  fields: readonly string[] | undefined,
  allowed: readonly Field[],
): readonly Field[] {
  if (fields === undefined) return allowed;
  const known: readonly string[] = allowed;
  const isKnown = (name: string): name is Field => known.includes(name);
  const unknown = fields.find((name) => !isKnown(name));
  if (unknown !== undefined)
    throw invalidArgument(`Unknown field '${unknown.slice(0, 64)}'; allowed are ${allowed.join(', ')}`);
  if (fields.length === 0) throw invalidArgument(`fields must name at least one of ${allowed.join(', ')}`);
  return [...new Set(fields.filter(isKnown))];
}
