import { isUtf8 } from 'node:buffer';
import { withinBudget, walkLimitOf, type ScanBudget } from './json/scan.ts';
import { readMessage, readPlain, type Message, type InvalidInput } from './message.ts';
import { OversizedLine } from './oversized.ts';
import { spend } from './slices.ts';
import { MOST_BYTES } from './turns.ts';

/** Lines over this size are read in parts, because reading one in a single turn would delay all other peers. */
export const LARGE_LINE: number = MOST_BYTES;

const NOT_UTF8 = -1;

/** Bytes that are walked in one part: a fraction of a slice, because what is walked is what takes time. */
const PART = MOST_BYTES / 4;

/** Lines up to this size are read in one turn where their keys are ambiguous (escaped or written twice). */
const MOST_REWRITTEN = 4 * LARGE_LINE;

/**
 * Reads a message that is too large for one slice. A very large one whose keys are escaped or written twice is refused: to
 * rewrite it, as is done with smaller ones, takes as long again.
 */
export class LargeMessage {
  readonly #line: Buffer;
  readonly #meter: ScanBudget = { ends: new Map(), left: 0, paused: undefined };
  /** Bytes of a string that are walked one by one; undefined until the text was checked for UTF-8. */
  #walk: number | undefined;
  /** Looks for the id of a line that is refused. */
  #follower: OversizedLine | undefined;
  #followed = 0;
  #refused: InvalidInput | undefined;

  constructor(line: Buffer) {
    this.#line = line;
  }

  /** Reads on. Returns undefined until the whole line has been read. */
  next(): Message | InvalidInput | undefined {
    spend(0, PART);
    if (this.#refused !== undefined) return this.#follow(this.#refused);
    this.#walk ??= isUtf8(this.#line) ? walkLimitOf(this.#line) : NOT_UTF8;
    const message = this.#walk === NOT_UTF8 ? notText(this.#line) : this.#read(this.#walk);
    if (message?.kind !== 'invalid') return message;
    if (this.#walk !== NOT_UTF8 && this.#line.length <= MOST_REWRITTEN) return readMessage(this.#line);
    this.#refused = message;
    return undefined;
  }

  #read(walk: number): Message | InvalidInput | undefined {
    this.#meter.left = PART;
    return withinBudget(this.#meter, () => readPlain(this.#line, walk));
  }

  #follow(refused: InvalidInput): InvalidInput | undefined {
    this.#follower ??= new OversizedLine();
    this.#follower.push(this.#line.subarray(this.#followed, this.#followed + PART));
    this.#followed += PART;
    if (this.#followed < this.#line.length) return undefined;
    const { id, likelyKind } = this.#follower.end();
    return { ...refused, id, likelyKind };
  }
}

function notText(bytes: Buffer): InvalidInput {
  return { kind: 'invalid', reason: 'not-json', bytes, id: undefined, likelyKind: undefined };
}
