/** Milliseconds that only ever grow. `performance` tells the same, but loads a library of its own at the first use. */
export function now(): number {
  return process.uptime() * 1000;
}

/** Returns milliseconds in words: "0.3 s", "15 s", "5 min". */
export function duration(milliseconds: number): string {
  if (milliseconds >= 120_000) return `${Math.round(milliseconds / 60_000)} min`;
  return `${Math.max(0, Math.round(milliseconds / 100) / 10)} s`;
}
