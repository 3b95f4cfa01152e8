/** Returns true for an object with keys: not for an array, not for null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Far more levels than any serialised value has; from a few thousand on the stack overflows. */
const DEEPEST = 100;

/** Returns true where a value from outside can be serialised without overflowing the stack. */
export function isShallow(value: unknown, left: number = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1));
}
