import type { CallToolResult } from '@modelcontextprotocol/server';

/** A result of a tool in which `content` may be left out. */
export interface ToolResultDraft {
  content?: CallToolResult['content'] | undefined;
  structuredContent?: unknown;
  isError?: boolean | undefined;
  [member: string]: unknown;
}

/** Characters of JSON in `content`: the client gets the same bytes once more in `structuredContent`. */
const LONGEST_JSON = 100_000;

/**
 * Returns the result with the text of `structuredContent` in `content` where no text is there; the given result stays as it
 * is. Of more than `longest` characters only the first entries of the longest list are written, as valid JSON.
 */
export function fillContent(result: ToolResultDraft, longest: number = LONGEST_JSON): CallToolResult {
  const { content = [], structuredContent } = result;
  if (structuredContent === undefined || content.some(({ type }) => type === 'text'))
    return { ...result, content };
  const texts = textsOf(structuredContent, longest);
  const filled = [...texts.map((text) => ({ type: 'text', text }) as const), ...content];
  return { ...result, content: filled };
}

function textsOf(structured: unknown, longest: number): string[] {
  const said = sentenceOf(structured);
  if (said !== undefined) return [said];
  const json = JSON.stringify(structured);
  if (json.length <= longest) return [json];
  return (
    shortenedList(structured, longest) ?? [
      `The result has ${json.length} characters of JSON and is in structuredContent only.`,
    ]
  );
}

/** Returns the message of the branches that are made of one. */
function sentenceOf(structured: unknown): string | undefined {
  if (typeof structured !== 'object' || structured === null) return undefined;
  const { type, message } = structured as Record<string, unknown>;
  if (typeof message !== 'string') return undefined;
  if (type === 'error') return `Error: ${message}`;
  return type === 'auth_required' ? message : undefined;
}

/** Writes as many entries of the longest list as there is room for, and says how many are missing. */
function shortenedList(structured: unknown, longest: number): string[] | undefined {
  if (typeof structured !== 'object' || structured === null) return undefined;
  const lists = Object.entries(structured).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  );
  const [name, list] = lists.toSorted((one, other) => other[1].length - one[1].length)[0] ?? [];
  if (name === undefined || list === undefined) return undefined;
  let room = longest - JSON.stringify({ ...structured, [name]: [] }).length;
  // Each entry has a comma; what JSON does not know is written as null in a list.
  const end = list.findIndex((entry) => (room -= (JSON.stringify(entry) ?? 'null').length + 1) < 0);
  if (end <= 0) return undefined;
  return [
    JSON.stringify({ ...structured, [name]: list.slice(0, end) }),
    `These are the first ${end} of ${list.length} entries of '${name}'. All of them are in structuredContent.`,
  ];
}
