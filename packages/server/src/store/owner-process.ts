import { readFileSync, readlinkSync } from 'node:fs';
import { isAlive } from './is-alive.ts';

/** Returns where process ids mean what they mean here: on this machine since its start and, on Linux, in this container. */
export function thisPlace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return process.getBuiltinModule('node:os').hostname();
  }
}

/** Returns true where a process is known to have ended; of one in another place that is not known. */
export function hasEnded(pid: number, place: string): boolean {
  return place === thisPlace() && !isAlive(pid);
}
