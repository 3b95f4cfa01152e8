import { createHash } from 'node:crypto';
import * as z from 'zod';
import { invalidArgument } from './invalid-argument.ts';

/** Arguments of a tool that answers in pages; the others are the query. */
export interface PageArguments {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
  readonly [argument: string]: unknown;
}

export interface Page<Item> {
  items: Item[];
  /** Token for the next page; absent on the last one. */
  nextPageToken?: string;
}

const DEFAULT_SIZE = 50;
const LARGEST_SIZE = 200;
/** Longer tokens are none of ours: a position of a service's own token is a few hundred characters. */
const LONGEST_TOKEN = 4096;
const PREFIX = 'p1.';

interface PageInput {
  pageSize: z.ZodDefault<z.ZodInt>;
  pageToken: z.ZodOptional<z.ZodString>;
}

/** Builds the arguments `pageSize` and `pageToken`, to be spread into an input schema. */
export function pageInput({
  defaultSize = DEFAULT_SIZE,
  largestSize = LARGEST_SIZE,
}: { readonly defaultSize?: number; readonly largestSize?: number } = {}): PageInput {
  return {
    pageSize: z.int().min(1).max(largestSize).default(defaultSize).describe('Most items of a page'),
    pageToken: z.string().max(LONGEST_TOKEN).optional().describe('nextPageToken of the page before'),
  };
}

/**
 * Takes a page out of a list. `args` are all arguments of the tool: a token of another query is refused. A page behind the
 * end is empty, because the list may have become shorter.
 */
export function paginate<Item>(list: readonly Item[], args: PageArguments): Page<Item> {
  const { pageSize = DEFAULT_SIZE, pageToken } = args;
  if (!Number.isSafeInteger(pageSize) || pageSize < 1)
    throw invalidArgument('pageSize must be a whole number from 1');
  const start = pageToken === undefined ? 0 : offsetIn(pageToken, args);
  const end = start + pageSize;
  const page = list.slice(start, end);
  return end < list.length ? { items: page, nextPageToken: writePageToken(end, args) } : { items: page };
}

function offsetIn(pageToken: string, args: PageArguments): number {
  const offset = readPageToken(pageToken, args);
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) throw foreignToken();
  return offset;
}

/** Writes an opaque token for a position: a number, or the token of a service. The token fits the same query only. */
export function writePageToken(position: number | string, args: PageArguments): string {
  return PREFIX + Buffer.from(JSON.stringify([position, hashOf(args)])).toString('base64url');
}

/** Reads the position from a token; throws an error with the code INVALID_REQUEST for one that is not ours. */
export function readPageToken(pageToken: string, args: PageArguments): number | string {
  const [position, hash] = parse(pageToken);
  if (hash !== hashOf(args)) throw foreignToken();
  if (typeof position !== 'number' && typeof position !== 'string') throw foreignToken();
  return position;
}

function parse(pageToken: string): unknown[] {
  if (pageToken.length > LONGEST_TOKEN || !pageToken.startsWith(PREFIX)) throw foreignToken();
  try {
    const parsed: unknown = JSON.parse(Buffer.from(pageToken.slice(PREFIX.length), 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    throw foreignToken();
  }
}

function foreignToken(): Error {
  return invalidArgument(
    'pageToken does not belong to this query: send nextPageToken of the page before with the same arguments, or leave it out',
  );
}

/** Hashes the query: all arguments but the page's own, in whatever order they are. */
function hashOf(args: PageArguments): string {
  const { pageSize: _size, pageToken: _token, ...query } = args;
  return createHash('sha256').update(JSON.stringify(query, sorted)).digest('base64url').slice(0, 22);
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
