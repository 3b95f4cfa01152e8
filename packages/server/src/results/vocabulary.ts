import * as z from 'zod';

type Success = z.ZodLiteral<'success'>;
type More = Readonly<Record<string, z.ZodType>>;
type None = Readonly<Record<never, z.ZodType>>;
type Grid<Cell extends z.ZodType> = z.ZodArray<z.ZodArray<Cell>>;
type OptionalText = z.ZodOptional<z.ZodString>;

type ItemsSchema<Item extends z.ZodType, Others extends More = None> = z.ZodObject<
  { type: Success; items: z.ZodArray<Item>; nextPageToken: OptionalText } & Others
>;

/** Builds the output of a search or a list: `items`, and a token where there are more. `more` adds members. */
export function items<Item extends z.ZodType, Others extends More = None>(
  schema: Item,
  more?: Others,
): ItemsSchema<Item, Others> {
  return z.object({
    type: z.literal('success'),
    items: z.array(schema),
    nextPageToken: nextPageToken(),
    ...more,
  } as unknown as ItemsSchema<Item, Others>['shape']);
}

type ItemSchema<Item extends z.ZodType, Others extends More = None> = z.ZodObject<
  { type: Success; item: Item } & Others
>;

/** Builds the output that is one thing. */
export function item<Item extends z.ZodType, Others extends More = None>(
  schema: Item,
  more?: Others,
): ItemSchema<Item, Others> {
  return z.object({ type: z.literal('success'), item: schema, ...more } as unknown as ItemSchema<
    Item,
    Others
  >['shape']);
}

type ColumnsSchema<Others extends More = None> = z.ZodObject<
  { type: Success; columns: z.ZodArray<z.ZodString>; isEmpty: z.ZodBoolean } & Others
>;

/**
 * Builds the output that names the columns of a table: `{ type: 'success', columns: ['id', 'name'], isEmpty: false }`. `isEmpty`
 * is true for a table without content.
 */
export function columns<Others extends More = None>(more?: Others): ColumnsSchema<Others> {
  return z.object({
    type: z.literal('success'),
    columns: columnNames(),
    isEmpty: isEmpty(),
    ...more,
  } as unknown as ColumnsSchema<Others>['shape']);
}

type RowsSchema<Cell extends z.ZodType, Others extends More = None> = z.ZodObject<
  { type: Success; range: OptionalText; rows: Grid<Cell>; nextPageToken: OptionalText } & Others
>;

/** Builds the output that is rows of cells: `{ type: 'success', rows: [['1', 'Ada'], ['2', 'Bo']] }`. */
export function rows<Cell extends z.ZodType, Others extends More = None>(
  cell: Cell,
  more?: Others,
): RowsSchema<Cell, Others> {
  return z.object({
    type: z.literal('success'),
    range: range().optional(),
    rows: grid(cell),
    nextPageToken: nextPageToken(),
    ...more,
  } as unknown as RowsSchema<Cell, Others>['shape']);
}

type ValuesSchema<Match extends z.ZodType, Cell extends z.ZodType> = z.ZodDiscriminatedUnion<
  [
    z.ZodObject<{ type: Success; select: z.ZodLiteral<'cells'>; values: z.ZodArray<Match> }>,
    z.ZodObject<{ type: Success; select: z.ZodLiteral<'rows'>; values: Grid<Cell> }>,
    z.ZodObject<{ type: Success; select: z.ZodLiteral<'columns'>; values: Grid<Cell> }>,
  ],
  'select'
>;

/** Builds the output whose `values` are what `select` says: matches in single cells, rows, or columns. */
export function values<Match extends z.ZodType, Cell extends z.ZodType>(
  match: Match,
  cell: Cell,
): ValuesSchema<Match, Cell> {
  const type = z.literal('success');
  const union: ValuesSchema<Match, Cell> = z.discriminatedUnion('select', [
    z.object({ type, select: z.literal('cells'), values: z.array(match) }),
    z.object({ type, select: z.literal('rows'), values: grid(cell) }),
    z.object({ type, select: z.literal('columns'), values: grid(cell) }),
  ]);
  return union.meta({ type: 'object' });
}

type ShapeSchema<Item extends z.ZodType, Cell extends z.ZodType> = z.ZodDiscriminatedUnion<
  [
    z.ZodObject<{
      type: Success;
      shape: z.ZodLiteral<'objects'>;
      items: z.ZodArray<Item>;
      nextPageToken: OptionalText;
    }>,
    z.ZodObject<{
      type: Success;
      shape: z.ZodLiteral<'arrays'>;
      columns: z.ZodArray<z.ZodString>;
      rows: Grid<Cell>;
      nextPageToken: OptionalText;
    }>,
  ],
  'shape'
>;

/** Builds the output that is `items` or `columns` with `rows`, as the argument `shape` asked for. */
export function shape<Item extends z.ZodType, Cell extends z.ZodType>(
  schema: Item,
  cell: Cell,
): ShapeSchema<Item, Cell> {
  const type = z.literal('success');
  const union: ShapeSchema<Item, Cell> = z.discriminatedUnion('shape', [
    z.object({ type, shape: z.literal('objects'), items: z.array(schema), nextPageToken: nextPageToken() }),
    z.object({
      type,
      shape: z.literal('arrays'),
      columns: columnNames(),
      rows: grid(cell),
      nextPageToken: nextPageToken(),
    }),
  ]);
  return union.meta({ type: 'object' });
}

/** Builds the argument `shape`; a caller that leaves it out gets objects. */
export function shapeInput(): z.ZodDefault<z.ZodEnum<{ objects: 'objects'; arrays: 'arrays' }>> {
  return z
    .enum(['objects', 'arrays'])
    .default('objects')
    .describe("'objects' for items, 'arrays' for columns and rows");
}

/** Builds the argument `select`. */
export function select(): z.ZodEnum<{ cells: 'cells'; rows: 'rows'; columns: 'columns' }> {
  return z
    .enum(['cells', 'rows', 'columns'])
    .describe('Kind of values: single cells, whole rows or whole columns');
}

export function range(): z.ZodString {
  return z.string().describe('Range of the table, such as A1:C10');
}

export function nextPageToken(): z.ZodOptional<z.ZodString> {
  return z.string().optional().describe('Token for the next page; absent on the last one');
}

export function isEmpty(): z.ZodBoolean {
  return z.boolean().describe('True for a table without content');
}

function columnNames(): z.ZodArray<z.ZodString> {
  return z.array(z.string()).describe('Names of the columns');
}

function grid<Cell extends z.ZodType>(cell: Cell): Grid<Cell> {
  return z.array(z.array(cell)).describe('Rows, each an array of cells');
}
