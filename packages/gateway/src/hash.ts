import { hex } from '@weir/server/internal';

/**
 * A short name for a text: 16 hex digits, the same at every start (FNV-1a over its characters, in two lanes).
 * Nothing here needs secrecy, and loading a cryptographic library would cost the command a megabyte and its boot.
 */
export function shortHash(text: string): string {
  let [one, two] = [0x811c9dc5, 0x9e3779b9];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x85ebca6b);
  }
  return hex(spread(one), 8) + hex(spread(two), 8);
}

/** FNV leaves the last characters in the low bits; one more round spreads them. */
function spread(hash: number): number {
  const spreading = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return spreading ^ (spreading >>> 13);
}
