import type { StandardSchemaV1 } from '@modelcontextprotocol/server';

type Issue = StandardSchemaV1.Issue;
type Outcome<Value> = StandardSchemaV1.Result<Value>;

/** Parses arguments. Models often send a nested object as JSON text: where only that is wrong, the text is parsed. */
export async function parseArguments<Value>(
  schema: StandardSchemaV1<unknown, Value>,
  args: unknown,
): Promise<Outcome<Value>> {
  const given = args ?? {};
  const outcome = await schema['~standard'].validate(given);
  if (outcome.issues === undefined) return outcome;
  const unwrapped = withoutJsonText(given, outcome.issues);
  if (unwrapped === undefined) return outcome;
  const again = await schema['~standard'].validate(unwrapped);
  return again.issues === undefined ? again : outcome;
}

/** Names each field and its reason, never a value: `filter.limit: expected number, received string`. */
export function describeIssues(issues: readonly Issue[]): string {
  const lines = issues.slice(0, MAX_ISSUES).map(describeIssue);
  const rest = issues.length - lines.length;
  return [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

// More would push the beginning out of a model's view.
const MAX_ISSUES = 20;

function describeIssue(issue: Issue): string {
  const { path, message } = closest(issue);
  return path === '' ? message : `${path}: ${message}`;
}

/** Follows a union to the branch that came closest: "Invalid input" alone helps no model. */
function closest(issue: Issue, above: readonly unknown[] = []): { path: string; message: string } {
  const path = [...above, ...(issue.path ?? [])];
  const best = unionBranches(issue).toSorted((one, other) => one.length - other.length)[0]?.[0];
  return best === undefined ? { path: pathOf(path), message: issue.message } : closest(best, path);
}

function unionBranches(issue: Issue & { readonly errors?: unknown }): readonly (readonly Issue[])[] {
  const { errors } = issue;
  return Array.isArray(errors) ? errors.filter((branch): branch is Issue[] => Array.isArray(branch)) : [];
}

function pathOf(path: readonly unknown[]): string {
  return path
    .map((part) => (typeof part === 'object' && part !== null && 'key' in part ? part.key : part))
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`))
    .join('');
}

/** Returns the arguments with refused texts replaced by the objects or arrays they hold, if there are any. */
function withoutJsonText(args: unknown, issues: readonly Issue[]): unknown {
  if (typeof args !== 'object' || args === null) return undefined;
  const refused = new Set(
    issues.filter(({ path }) => path?.length === 1).map(({ path }) => pathOf(path ?? [])),
  );
  const entries = Object.entries(args).filter(([key]) => refused.has(key));
  const parsed = entries.map(([key, value]) => [key, nestedIn(value)] as const);
  const found = parsed.filter(([, value]) => value !== undefined);
  return found.length === 0 ? undefined : { ...args, ...Object.fromEntries(found) };
}

function nestedIn(value: unknown): object | undefined {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
