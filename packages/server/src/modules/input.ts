import type { StandardSchemaV1 } from '@modelcontextprotocol/server';
import { type Issue, pathOf } from '../errors/issues.ts';

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
