import { hasEnded, thisPlace } from './owner-process.ts';
import type { Store } from './store-contract.ts';

export interface LockOptions {
  /** Ends the wait for the lock; an action that runs goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds between the signs of life of a holder; 1 s unless set. */
  readonly beatMs?: number;
  /** Milliseconds without a sign of life after which a holder is replaced; 10 s unless set. The same for all who wait. */
  readonly lapsesMs?: number;
}

/** The record of a lock while it is held; an empty one is free. */
interface Holder {
  /** Differs from action to action. */
  readonly owner: string;
  readonly pid: number;
  /** The machine and container that the process id belongs to. */
  readonly place: string;
  /** Grows with each sign of life. */
  readonly beat: number;
}

const BEAT_MS = 1000;
const LAPSES_MS = 10_000;
const POLL_MS = 20;
const FREE = Buffer.alloc(0);

/**
 * Runs an action while no other process runs one under the same name in the same store, however long it takes. The value of
 * that name belongs to the lock. A holder that was killed is replaced at once; where that cannot be known, because it ran
 * in another container, and for one that was stopped, after `lapsesMs`.
 */
export async function withLock<Result>(
  store: Store,
  name: string,
  action: () => Promise<Result>,
  options: LockOptions = {},
): Promise<Result> {
  const holder = newHolder();
  await take(store, name, { holder, options });
  const stop = keepAlive(store, name, { holder, options });
  try {
    return await action();
  } finally {
    await stop();
  }
}

function newHolder(): Holder {
  const { randomUUID } = process.getBuiltinModule('node:crypto');
  return { owner: randomUUID(), pid: process.pid, place: thisPlace(), beat: 0 };
}

interface Attempt {
  readonly holder: Holder;
  readonly options: LockOptions;
}

async function take(store: Store, name: string, { holder, options }: Attempt): Promise<void> {
  const { signal, lapsesMs = LAPSES_MS } = options;
  let seen: Buffer | undefined;
  // Counted in polls: a computer that slept has not waited, whatever its clocks say.
  let silentMs = 0;
  for (;;) {
    signal?.throwIfAborted();
    const found = await store.get(name);
    silentMs = isSame(found, seen) ? silentMs + POLL_MS : 0;
    seen = found;
    const isFree = silentMs >= lapsesMs || !isHeld(found);
    if (isFree && (await replace(store, name, { found, holder }))) return;
    await pause(signal);
  }
}

/** Takes the lock unless another process was faster. */
async function replace(
  store: Store,
  name: string,
  { found, holder }: { found: Buffer | undefined; holder: Holder },
): Promise<boolean> {
  const kept = await store.update(name, (before) => (isSame(before, found) ? encode(holder) : undefined));
  return isOf(kept, holder);
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

/** Returns false where a lock is free or its process has ended. One that cannot be read counts as held, until it lapses. */
function isHeld(found: Buffer | undefined): boolean {
  if (found === undefined || found.length === 0) return false;
  const holder = decode(found);
  return holder === undefined || !hasEnded(holder.pid, holder.place);
}

/** Waits for the next look. Its timer keeps the process: a program that waits for a lock has not ended. */
function pause(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, POLL_MS);
    signal?.addEventListener('abort', done);
  });
}

/** Gives signs of life until the returned function is called, which lets go of the lock. */
function keepAlive(store: Store, name: string, { holder, options }: Attempt): () => Promise<void> {
  let beat = 0;
  // A write that fails is a missed sign of life: after some of them, or the end of this process, the lock is free all the same.
  const write = async (value: Buffer): Promise<void> => {
    const ours = (before: Buffer | undefined): Buffer | undefined =>
      isOf(before, holder) ? value : undefined;
    await store.update(name, ours).catch(() => {});
  };
  let writes = Promise.resolve();
  const timer = setInterval(() => {
    beat++;
    writes = writes.then(() => write(encode({ ...holder, beat })));
  }, options.beatMs ?? BEAT_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await writes;
    await write(FREE);
  };
}

function isOf(found: Buffer | undefined, { owner }: Holder): boolean {
  return found !== undefined && decode(found)?.owner === owner;
}

function encode(holder: Holder): Buffer {
  return Buffer.from(`${JSON.stringify(holder)}\n`);
}

/** Returns undefined for the record of a free lock and for one that another program has written. */
function decode(bytes: Buffer): Holder | undefined {
  try {
    const found = JSON.parse(bytes.toString('utf8')) as Holder | null;
    return typeof found?.pid === 'number' ? found : undefined;
  } catch {
    return undefined;
  }
}
