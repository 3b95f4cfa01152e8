import type { Upstream } from '../upstream/upstream.ts';

/** How much text of several servers is passed on, in characters: a model reads all of it. */
const MOST_TEXT = 64 * 1024;

/** What servers say about how to use them: the words of an only one as they are, those of several under their keys. */
export function mergeInstructions(upstreams: readonly Upstream[], isOnlyOne: boolean): string | undefined {
  const given = upstreams.filter(
    ({ instructions }) => instructions !== undefined && instructions.trim() !== '',
  );
  if (given.length === 0) return undefined;
  if (isOnlyOne) return given[0]?.instructions;
  const length = given.reduce((sum, { instructions = '' }) => sum + instructions.length, 0);
  const share = length <= MOST_TEXT ? MOST_TEXT : Math.floor(MOST_TEXT / given.length);
  return given.map((upstream) => section(upstream, share)).join('\n\n');
}

function section({ serverKey, instructions = '' }: Upstream, share: number): string {
  return `## ${serverKey}\n\n${cut(instructions.trim(), share)}`;
}

/** Where all together say too much each has its share, so that none takes the words of the others. */
function cut(text: string, share: number): string {
  if (text.length <= share) return text;
  // Not in the middle of a character.
  const kept = text.slice(0, share).replace(/[\uD800-\uDBFF]$/u, '');
  return `${kept.trimEnd()}\n\n[… ${text.length - kept.length} more characters were left out]`;
}
