import { instructionsUri } from '../registry/uris.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** UTF-16 units, as `length` and the hosts count them: Claude Code cuts every server's instructions at 2,048. */
export const DEFAULT_BUDGET = 2000;

/** Throws where a budget is not a whole number from 0. */
export function validateBudget(budget: number): void {
  if (Number.isSafeInteger(budget) && budget >= 0) return;
  throw new Error(
    `instructionsBudget must be a whole number from 0, not ${budget}. 0 passes no instructions on.`,
  );
}

/** UTF-16 units: a section with less of its text than this says nothing, so that it is left out. */
const LEAST_TEXT = 40;
const BETWEEN = '\n\n';
/** Ends a text that was cut. */
const CUT = ' […]';

export interface MergeOptions {
  /** UTF-16 units that the text may have, headings and notes included. */
  readonly budget: number;
  /** The config has one server: its text stands without a heading, byte for byte where it fits. */
  readonly isOnlyOne: boolean;
  /** A line that stands first. */
  readonly notice?: string | undefined;
}

export interface MergedInstructions {
  readonly text: string | undefined;
  /** Whole texts of the servers whose text was cut or left out, by key. */
  readonly cut: ReadonlyMap<string, string>;
}

interface Section {
  readonly serverKey: string;
  readonly heading: string;
  readonly whole: string;
}

/** Merges the instructions of all servers into one text within the budget. */
export function mergeInstructions(
  upstreams: readonly Upstream[],
  { budget, isOnlyOne, notice = '' }: MergeOptions,
): MergedInstructions {
  const sections = upstreams.flatMap((upstream) => sectionOf(upstream, isOnlyOne));
  const first = notice.length <= budget ? notice : '';
  const whole = joined([first, ...sections.map(({ heading, whole: text }) => heading + text)]);
  if (whole.length <= budget) return { text: whole || undefined, cut: new Map() };
  const pointer = pointerTo(sections, isOnlyOne);
  const rest = budget - (first === '' ? 0 : first.length + BETWEEN.length);
  const last = pointer.length <= rest ? pointer : '';
  const shown = fitted(sections, rest - last.length);
  const cut = sections.filter((section) => shown.get(section) !== section.whole);
  const texts = Array.from(shown, ([{ heading }, text]) => heading + text);
  return {
    text: joined([first, ...texts, last]) || undefined,
    cut: new Map(cut.map(({ serverKey, whole: text }) => [serverKey, text])),
  };
}

function sectionOf({ serverKey, instructions = '' }: Upstream, isOnlyOne: boolean): Section[] {
  if (instructions.trim() === '') return [];
  if (isOnlyOne) return [{ serverKey, heading: '', whole: instructions }];
  return [{ serverKey, heading: `## ${serverKey}\n\n`, whole: instructions.trim() }];
}

function joined(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join(BETWEEN);
}

/** Says how to read what was cut. */
function pointerTo([only]: readonly Section[], isOnlyOne: boolean): string {
  return isOnlyOne && only !== undefined
    ? `[Cut. The full text is in the resource ${instructionsUri(only.serverKey)}]`
    : '[Some texts are cut. The full text of a server is in the resource weir://instructions/<server>]';
}

/** Gives each section its share; sections whose share is too small are left out, the last of the config first. */
function fitted(sections: readonly Section[], room: number): Map<Section, string> {
  let kept = sections;
  for (;;) {
    const share = fairShare(kept.map(sizeOf), room);
    const isTooSmall = (section: Section): boolean =>
      sizeOf(section) > share && share < sizeOf({ ...section, whole: '' }) + LEAST_TEXT;
    const left = kept.findLastIndex(isTooSmall);
    if (left < 0) return new Map(kept.map((section) => [section, textWithin(section, share)]));
    kept = kept.toSpliced(left, 1);
  }
}

/** UTF-16 units of a section with what separates it from the next. */
function sizeOf({ heading, whole }: Section): number {
  return heading.length + whole.length + BETWEEN.length;
}

/** The max-min fair share: sizes up to it are granted whole, and all others get this much. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (sizes.length - index));
    if (size > share) return share;
    left -= size;
  }
  return Infinity;
}

function textWithin(section: Section, share: number): string {
  const { heading, whole } = section;
  if (sizeOf(section) <= share) return whole;
  return cutText(whole, share - heading.length - BETWEEN.length - CUT.length) + CUT;
}

/** The ends of sentences, also in Chinese and Japanese. */
const SENTENCE_END = /[.!?\u2026]["'\u201d\u2019)\]]*(?=\s)|[\u3002\uff01\uff1f]|\n/gu;
const LAST_SPACE = /\s\S*$/u;

/** Cuts a text to at most `room` UTF-16 units: after a sentence, else after a word, else after a character. */
export function cutText(text: string, room: number): string {
  const end = characterEnd(text, room);
  const looked = text.slice(0, end + 1);
  let sentence = 0;
  for (const match of looked.matchAll(SENTENCE_END)) {
    const after = match.index + match[0].length;
    if (after <= end) sentence = after;
  }
  const ends = [sentence, looked.search(LAST_SPACE)];
  // An end that gives away more than half of the room is not worth it.
  return text.slice(0, ends.find((at) => at * 2 >= end) ?? end).trimEnd();
}

// Code points that continue the character before them: combining marks, variation selectors, the joiner, skin tones. Written
// out: to know what has such a property the engine would load half a megabyte of tables.
const CONTINUES: readonly (readonly [from: number, to: number])[] = [
  [0x03_00, 0x03_6f],
  [0x1a_b0, 0x1a_ff],
  [0x1d_c0, 0x1d_ff],
  [0x20_0d, 0x20_0d],
  [0x20_d0, 0x20_ff],
  [0xfe_00, 0xfe_0f],
  [0xfe_20, 0xfe_2f],
  [0x1_f3_fb, 0x1_f3_ff],
];
const JOINER = '\u200D';
/** Units: some texts pile up marks without end. */
const LONGEST_CHARACTER = 32;

/** Returns the last end of a whole character at or before `at`. */
function characterEnd(text: string, at: number): number {
  const most = at < text.length ? Math.max(0, at) : text.length;
  const least = Math.max(0, most - LONGEST_CHARACTER);
  for (let end = most; end > least; end--) if (isCharacterEnd(text, end)) return end;
  return isSplitPair(text, most) ? most - 1 : most;
}

function isCharacterEnd(text: string, at: number): boolean {
  const next = text.codePointAt(at);
  if (next === undefined) return true;
  const isContinued = CONTINUES.some(([from, to]) => from <= next && next <= to);
  return !isContinued && !isSplitPair(text, at) && text[at - 1] !== JOINER;
}

function isSplitPair(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xff_ff;
}
