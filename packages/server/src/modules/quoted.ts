import { plain } from '../errors/client-text.ts';

/** Characters of a client's own text that an error repeats: it could have millions. */
const LONGEST_QUOTED = 200;

/** Returns a text that a client sent, short and on one line, to be repeated in an error. */
export function quoted(text: string): string {
  const shown = plain(text.slice(0, LONGEST_QUOTED)).replace(/[\n\t]/g, ' ');
  return text.length > LONGEST_QUOTED ? `${shown}…` : shown;
}
