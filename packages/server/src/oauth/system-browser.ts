import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:os';
import { browserAddress } from './web-address.ts';

/** Opens an address in the user's browser. No shell sees the address, so that nothing in it can be a command. */
export async function openSystemBrowser(url: string): Promise<void> {
  const [command, ...args] = browserCommand(url, platform());
  const child = spawn(command, args, { stdio: 'ignore', detached: true, shell: false });
  child.unref();
  await once(child, 'spawn');
}

/** Returns the program and its arguments that open an address. */
export function browserCommand(url: string, system: NodeJS.Platform): [string, ...string[]] {
  const href = browserAddress(url);
  if (system === 'darwin') return ['open', href];
  if (system === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', href];
  return ['xdg-open', href];
}
