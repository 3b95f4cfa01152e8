import { resolveTool } from '../../../call/resolve.ts';
import type { GatewaySnapshot } from '../../../call/snapshot.ts';
import { Method } from '../../../protocol/methods.ts';
import {
  mayHaveParameterHeaders,
  parameterMismatch,
  readParameterHeaders,
  type ParameterHeader,
} from '../../../protocol/param-headers.ts';
import { Route } from '../../../registry/route.ts';
import type { HttpHeaders } from '../../../wire/http/head-lines.ts';
import { findMember, stringValue } from '../../../wire/json/members.ts';
import type { Message } from '../../../wire/message.ts';

const NONE: readonly ParameterHeader[] = [];

/** Read once for every definition; a new one makes a new route. */
const known = new WeakMap<Pick<Route, 'definition'>, readonly ParameterHeader[]>();

/** Describes the first header that differs from its argument of a tool call; undefined where all agree. */
export function parameterHeaderError(
  { method, bytes, params }: Message,
  headers: HttpHeaders,
  snapshot: GatewaySnapshot,
): string | undefined {
  const name = method === Method.CALL_TOOL && params !== undefined ? stringValue(params, 'name') : undefined;
  if (name === undefined || params === undefined) return undefined;
  const route = resolveTool(snapshot, name);
  const marked = route instanceof Route ? markedIn(route) : NONE;
  if (marked.length === 0) return undefined;
  const member = findMember(params, 'arguments');
  const text = member < 0 ? '{}' : bytes.toString('utf8', params.flat[member + 2], params.flat[member + 3]);
  return parameterMismatch(marked, parsed(text), (header) => headers.get(header)?.trim());
}

function markedIn(route: Pick<Route, 'definition'>): readonly ParameterHeader[] {
  let marked = known.get(route);
  if (marked === undefined) {
    marked = readMarked(route.definition());
    known.set(route, marked);
  }
  return marked;
}

/** Ignores annotations that break the rules. */
function readMarked(definition: Buffer): readonly ParameterHeader[] {
  if (!mayHaveParameterHeaders(definition)) return NONE;
  try {
    return readParameterHeaders(definition);
  } catch {
    return NONE;
  }
}

/** The inside of a long string has not been judged before. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
