/**
 * A short name for a text: 16 hex digits, the same at every start (FNV-1a, two runs with different beginnings).
 * Nothing here needs secrecy, and loading a cryptographic library would cost the command a megabyte and its boot.
 */
export function shortHash(text: string): string {
  return hex(fnv(text, 0x811c9dc5)) + hex(fnv(text, 0x9e3779b9));
}

function fnv(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  // FNV leaves the last characters in the low bits; one more round spreads them.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
