import { LONGEST_NOTED } from '../../config/redact.ts';
import { startOf } from '../../shorten.ts';
import {
  findMember,
  readElements,
  readMembers,
  stringStart,
  stringValue,
  valueText,
  type Members,
} from '../../wire/json/members.ts';
import { closingQuote } from '../../wire/json/scan.ts';
import type { Message } from '../../wire/message.ts';
import type { ErrorInfo, ToolExecutionResult } from './invocation.ts';

type ContentType = ToolExecutionResult['contentType'];

/** A result of `tools/call` without its content. */
export type Outline = Pick<ToolExecutionResult, 'contentType' | 'tokensUsed'>;

/** Content up to this many bytes is looked at whole for every call; of larger content only the first item is. */
const LARGEST_SCAN = 256;
/** Items as `JSON.stringify` and most servers write them. */
const TEXT_ITEM = '[{"type":"text","text":"';
const IMAGE_ITEM = '[{"type":"image",';
/** Bytes of `"}]`. */
const END_OF_TEXT = 3;

/** One object for each type: most calls need no other. */
const OUTLINES: Readonly<Record<ContentType, Outline>> = {
  text: { contentType: 'text' },
  json: { contentType: 'json' },
  markdown: { contentType: 'markdown' },
  image: { contentType: 'image' },
};

/**
 * Outlines a result at a cost that does not grow with it, because every call pays for it. Of several items over 256
 * bytes the first decides; `wholeResult` looks at all of them.
 */
export function outlineOf(result: Members): Outline {
  const tokensUsed = tokensIn(result);
  const outline = OUTLINES[findMember(result, 'structuredContent') >= 0 ? 'json' : typeIn(result)];
  return tokensUsed === undefined ? outline : { ...outline, tokensUsed };
}

function typeIn(result: Members): ContentType {
  const { bytes, flat } = result;
  const at = findMember(result, 'content');
  if (at < 0) return 'json';
  const start = flat[at + 2] as number;
  const end = flat[at + 3] as number;
  const isText = startsWith(bytes, start, TEXT_ITEM);
  if (end - start > LARGEST_SCAN)
    return isText ? 'text' : startsWith(bytes, start, IMAGE_ITEM) ? 'image' : 'json';
  // No second item, and nothing beside the text.
  const isWhole = isText && closingQuote(bytes, start + TEXT_ITEM.length) === end - END_OF_TEXT;
  return isWhole ? 'text' : scannedType(bytes, start);
}

function startsWith(bytes: Buffer, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

function scannedType(bytes: Buffer, start: number): ContentType {
  const [first, , ...others] = readElements(bytes, start) ?? [];
  const item = first === undefined || others.length > 0 ? undefined : readMembers(bytes, first);
  return item === undefined
    ? 'json'
    : itemType(stringValue(item, 'type'), stringValue(item, 'text'), stringValue(item, 'mimeType'));
}

/** One text or one image is that; other types are JSON. */
function itemType(type: unknown, text: unknown, mimeType: unknown): ContentType {
  if (type === 'image') return 'image';
  if (type !== 'text' || typeof text !== 'string') return 'json';
  return mimeType === 'text/markdown' ? 'markdown' : 'text';
}

interface Item {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly mimeType?: unknown;
}

/** Parses a result: its output is the text or the image where it is one, else the structured content or all items. */
export function wholeResult(bytes: Buffer): Pick<ToolExecutionResult, 'content' | 'contentType'> {
  const { content, structuredContent } = JSON.parse(bytes.toString('utf8')) as {
    content?: unknown;
    structuredContent?: unknown;
  };
  const [item, ...others] = Array.isArray(content) ? (content as (Item | null)[]) : [];
  if (structuredContent !== undefined || others.length > 0)
    return { content: structuredContent ?? content, contentType: 'json' };
  const contentType = itemType(item?.type, item?.text, item?.mimeType);
  if (contentType === 'json') return { content, contentType };
  return { content: contentType === 'image' ? item : item?.text, contentType };
}

/** Servers report usage under names of their own; these are the common ones. */
const TOKEN_KEYS = ['tokensUsed', 'totalTokens', 'total_tokens'] as const;
/** A `_meta` that reports usage is short. */
const LONGEST_META = 4096;

function tokensIn(result: Members): number | undefined {
  const meta = valueText(result, '_meta');
  if (meta === undefined || meta.length > LONGEST_META || !meta.includes('okens')) return undefined;
  const parsed = JSON.parse(Buffer.from(meta, 'latin1').toString('utf8')) as Record<string, unknown> | null;
  const places = [parsed, parsed?.['usage']].filter((place) => typeof place === 'object' && place !== null);
  for (const place of places as Record<string, unknown>[])
    for (const key of TOKEN_KEYS) if (typeof place[key] === 'number') return place[key];
  return undefined;
}

/** Enough for as many characters as are noted: an escaped one has six bytes. */
const BYTES_READ = 8 * LONGEST_NOTED;

const TOOL_FAILURE: ErrorInfo = { message: 'The tool reported an error' };

/** Returns the error in a server's response to a call. Leaves out the text of a failed tool, because it may repeat arguments. */
export function failureIn({ body, isError }: Message): ErrorInfo | undefined {
  if (isError) return rpcError(body);
  return body !== undefined && valueText(body, 'isError') === 'true' ? TOOL_FAILURE : undefined;
}

function rpcError(error: Members | undefined): ErrorInfo {
  const message = startOf((error && stringStart(error, 'message', BYTES_READ)) ?? '', LONGEST_NOTED);
  const code = Number(error && valueText(error, 'code'));
  return Number.isNaN(code) ? { message } : { message, code };
}
