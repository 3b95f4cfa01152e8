import type { UpstreamServer } from './server.ts';

/** How long calls under way may take to end, once their server is to go. */
const LAST_CALLS_MS = 5000;
/** How often is looked whether they have. */
const LOOK_MS = 20;

/** Ends a server that is called no more, once what is under way has been answered or has had its time. */
export async function drain(
  child: UpstreamServer,
  what: string,
  patienceMs: number = LAST_CALLS_MS,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (child.isAwaited && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  await child.retire(what)?.stop();
}
