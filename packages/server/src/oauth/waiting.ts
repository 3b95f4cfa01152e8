/** Waits for a promise that others may wait for, too: the signal ends this wait alone. */
export async function untilAborted<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await promise;
  signal.throwIfAborted();
  const aborted = deferred<never>();
  const abort = (): void => aborted.reject(reasonOf(signal));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Waits without keeping the process alive; throws the reason of the signal. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const elapsed = deferred<void>();
  const timer = setTimeout(elapsed.resolve, milliseconds).unref();
  try {
    await untilAborted(elapsed.promise, signal);
  } finally {
    clearTimeout(timer);
  }
}

export interface Deferred<Result> {
  readonly promise: Promise<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Creates a promise to settle later. Its rejection is not reported where nothing waits for it. */
export function deferred<Result>(): Deferred<Result> {
  let resolve: (result: Result) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Result>((...settle) => ([resolve, reject] = settle));
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/** Returns the reason of an aborted signal as an error. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('The caller has cancelled');
}
