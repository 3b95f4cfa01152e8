// The vocabulary of seed 004: its table of output properties, and its table of tool names.

export interface ListedTool {
  readonly name: string;
  readonly outputSchema?: JsonSchema | undefined;
}

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
}

// A name's pattern, and the properties of which each output of such a tool has one.
const NAMES: readonly { readonly pattern: RegExp; readonly main: readonly string[] }[] = [
  { pattern: /^(?:[a-z]+-)*(?:columns-get|get-columns)$/, main: ['columns'] },
  { pattern: /^(?:[a-z]+-)*rows-(?:get|append)$/, main: ['rows', 'values'] },
  { pattern: /^(?:[a-z]+-)+(?:search|list)$/, main: ['items', 'rows', 'values'] },
  { pattern: /^(?:[a-z]+-)+(?:get|append)$/, main: ['item'] },
];

const COMPANIONS = ['type', 'nextPageToken', 'isEmpty', 'range', 'select', 'shape'];
const SUCCESS = ['items', 'item', 'columns', 'rows', 'values', ...COMPANIONS];
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  success: SUCCESS,
  error: ['type', 'message', 'code'],
  auth_required: ['type', 'authUrl', 'message'],
};

/** Lists how a tool leaves the two tables. */
export function breaches({ name, outputSchema }: ListedTool): string[] {
  const kind = NAMES.find(({ pattern }) => pattern.test(name));
  if (kind === undefined) return [`${name} is a name outside the table`];
  if (outputSchema === undefined) return [`${name} has no output schema`];
  return branchesOf(outputSchema).flatMap((branch) => breachesOfBranch(name, kind.main, branch));
}

function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  return (schema.oneOf ?? schema.anyOf)?.flatMap(branchesOf) ?? [schema];
}

function breachesOfBranch(name: string, main: readonly string[], { properties = {} }: JsonSchema): string[] {
  const type = String(properties['type']?.const);
  const allowed = PROPERTIES[type];
  if (allowed === undefined) return [`${name} has an output whose type is ${type}`];
  const foreign = Object.keys(properties).filter((property) => !allowed.includes(property));
  if (foreign.length > 0) return [`${name} has outputs outside the table: ${foreign.join(', ')}`];
  const isComplete = type !== 'success' || main.some((property) => property in properties);
  return isComplete ? [] : [`${name} has no ${main.join(', ')}`];
}
