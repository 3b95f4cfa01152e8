/** Returns the first characters of a text. A long text is copied, because a slice of it would keep all of it in memory. */
export function startOf(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Half of a character is left out.
  const start = text.slice(0, longest).replace(/[\uD800-\uDBFF]$/u, '');
  return Buffer.from(start).toString();
}

/** Returns the first characters of a text, with a mark where more follow. */
export function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${startOf(text, longest)}…`;
}
