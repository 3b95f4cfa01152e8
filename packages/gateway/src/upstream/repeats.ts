import { startOf } from '../shorten.ts';

/** Holds a repeated text back for this long: one line in ten minutes shows that a fault lasts. */
const HELD_BACK_MS = 10 * 60_000;
/** Texts that are remembered; servers choose the words of some, so that their number needs a bound. */
const MOST_TEXTS = 100;
/** Characters by which a text is remembered. */
const LONGEST_KEY = 1000;

interface Said {
  readonly at: number;
  heldBack: number;
}

/** Holds back texts that were said a short time ago. */
export class Repeats {
  readonly #now: () => number;
  readonly #said = new Map<string, Said>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the text to say, with how often it was held back before; undefined where it is held back now. */
  say(text: string): string | undefined {
    const at = this.#now();
    const key = startOf(text, LONGEST_KEY);
    const last = this.#said.get(key);
    if (last !== undefined && at - last.at < HELD_BACK_MS) {
      last.heldBack++;
      return undefined;
    }
    this.#said.delete(key);
    const [oldest] = this.#said.keys();
    if (this.#said.size >= MOST_TEXTS && oldest !== undefined) this.#said.delete(oldest);
    this.#said.set(key, { at, heldBack: 0 });
    const { heldBack = 0 } = last ?? {};
    return heldBack === 0 ? text : `${text} (repeated ${heldBack} times before this)`;
  }
}
