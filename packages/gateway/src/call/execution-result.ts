import { LARGE, lineText, textAt } from '../wire/latin1.ts';
import {
  findMember,
  readElements,
  readMembers,
  stringValue,
  valueText,
  type Members,
} from '../wire/members.ts';
import type { ToolExecutionResult } from './invocation.ts';

type ContentType = ToolExecutionResult['contentType'];

/** A result of `tools/call` without its content. */
export type Outline = Pick<ToolExecutionResult, 'contentType' | 'tokensUsed'>;

/** Content up to this many bytes is looked at whole for every call; of larger content only the first item is. */
const LARGEST_SCAN = 256;
/** Items as `JSON.stringify` and most servers write them. */
const TEXT_ITEM = '[{"type":"text","text":"';
const IMAGE_ITEM = '[{"type":"image",';

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
  const [start, end] = [flat[at + 2] as number, flat[at + 3] as number];
  const isLarge = end - start > LARGEST_SCAN;
  const headEnd = isLarge ? start + TEXT_ITEM.length : end;
  const head = bytes.length < LARGE ? lineText(bytes).slice(start, headEnd) : textAt(bytes, start, headEnd);
  if (isLarge) return head === TEXT_ITEM ? 'text' : head.startsWith(IMAGE_ITEM) ? 'image' : 'json';
  // No second item, and nothing beside the text.
  if (head.startsWith(TEXT_ITEM) && !head.includes('},{') && !head.includes('"mimeType"')) return 'text';
  return scannedType(bytes, start);
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
