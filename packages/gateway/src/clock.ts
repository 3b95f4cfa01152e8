/** Milliseconds that only ever grow. `performance` tells the same, but loads a library of its own at the first use. */
export function now(): number {
  return process.uptime() * 1000;
}
