import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:os';
import { sleep } from './waiting.ts';
import { browserAddress } from './web-address.ts';

/** Milliseconds in which a program that finds no browser has ended; one that is the browser itself runs on. */
const FAILS_WITHIN_MS = 2000;

/**
 * Opens an address in the user's browser; throws where none starts. No shell sees the address, so that nothing in it can be
 * a command.
 */
export async function openSystemBrowser(url: string): Promise<void> {
  await start(browserCommand(url, platform()));
}

/** Starts a program and leaves it to itself. Throws where it cannot be started, or ends with a failure at once. */
export async function start([command, ...args]: [string, ...string[]]): Promise<void> {
  const child = spawn(command, args, { stdio: 'ignore', detached: true, shell: false });
  child.unref();
  const seen = new AbortController();
  try {
    // Rejects where the program cannot be started.
    const exited = once(child, 'exit', { signal: seen.signal }) as Promise<[number | null]>;
    const [status] = await Promise.race([exited, sleep(FAILS_WITHIN_MS, seen.signal).then(() => [0])]);
    if (status !== 0) throw new Error(`${command} ended with ${status ?? 'a signal'}`);
  } finally {
    seen.abort();
  }
}

/** Returns the program and its arguments that open an address. */
export function browserCommand(url: string, system: NodeJS.Platform): [string, ...string[]] {
  const href = browserAddress(url);
  if (system === 'darwin') return ['open', href];
  if (system === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', href];
  return ['xdg-open', href];
}
