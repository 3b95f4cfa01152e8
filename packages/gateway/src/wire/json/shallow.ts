/** Far more than anything has that is written anew; from a few thousand on it takes more stack than there is. */
const DEEPEST = 100;

/** Whether a value that came from outside can be written as JSON again. */
export function isShallow(value: unknown, left: number = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1));
}
