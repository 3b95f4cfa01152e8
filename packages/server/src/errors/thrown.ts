import { types } from 'node:util';
import { describeIssues, type Issue } from './issues.ts';

/** Errors behind an error that are looked at; more are a mistake or an attack. */
const LONGEST_CHAIN = 16;

/** Reads a member of whatever was thrown; a getter or a proxy that throws has no such member. */
export function readMember(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

export function isError(value: unknown): value is Error {
  try {
    return types.isNativeError(value) || value instanceof Error;
  } catch {
    // A proxy may throw when it is asked for its prototype.
    return false;
  }
}

/** Returns an Error, whatever was thrown. */
export function toError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(messageOf(thrown), { cause: thrown });
}

/** Returns the message of whatever was thrown, as it is; of an error without one, that of the error behind it. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string' && thrown.trim() !== '') return thrown;
  if (typeof thrown === 'number' || typeof thrown === 'bigint' || typeof thrown === 'boolean')
    return String(thrown);
  return chainOf(thrown).map(ownMessage).find(isText) ?? 'Unknown error';
}

/** Returns what was thrown and the errors behind it: its causes, and the members of an AggregateError. */
export function chainOf(thrown: unknown): unknown[] {
  const chain = new Set([thrown]);
  // A set goes on with what is added to it, and takes each error of a circle once.
  for (const error of chain) {
    const errors = readMember(error, 'errors');
    for (const next of [readMember(error, 'cause'), ...firstOf(errors)]) {
      if (next !== undefined && next !== null && chain.size < LONGEST_CHAIN) chain.add(next);
    }
  }
  return [...chain];
}

function firstOf(errors: unknown): unknown[] {
  try {
    return Array.isArray(errors) ? errors.slice(0, LONGEST_CHAIN) : [];
  } catch {
    return [];
  }
}

function ownMessage(error: unknown): unknown {
  if (typeof error === 'string') return error;
  return readMember(error, 'name') === 'ZodError' ? zodMessage(error) : readMember(error, 'message');
}

/** Shortens the message of zod, which is JSON of many lines, to a field and its reason. */
function zodMessage(error: unknown): unknown {
  try {
    return describeIssues(readMember(error, 'issues') as Issue[]);
  } catch {
    return readMember(error, 'message');
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
