import type { StandardSchemaV1 } from '@modelcontextprotocol/server';

/** A reason for which a schema refuses a value, as zod and all that follow Standard Schema give it. */
export type Issue = StandardSchemaV1.Issue;

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

/** Writes a path as code does: `rows[0].id`. */
export function pathOf(path: readonly unknown[]): string {
  return path
    .map((part) => (typeof part === 'object' && part !== null && 'key' in part ? part.key : part))
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`))
    .join('');
}
