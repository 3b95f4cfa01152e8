/** Waits for something, but no longer than so many milliseconds; tells whether it came in time. */
export async function within(ms: number, something: Promise<unknown>): Promise<boolean> {
  return (
    (await inTime(
      ms,
      something.then(() => true),
    )) === true
  );
}

/** Resolves with the value, or with undefined after `ms` milliseconds. */
export async function inTime<T>(ms: number, something: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([something, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
