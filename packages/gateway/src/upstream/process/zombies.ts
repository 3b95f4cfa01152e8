import { readdirSync, readFileSync } from 'node:fs';

/**
 * Whether a process group has a member that runs. One that only awaits burial still counts as a member for `kill`,
 * and where the system's first process buries late or never, as in many containers, that could be for ever.
 */
export function hasLivingMember(group: number): boolean {
  const pids = listProc();
  // Where there is no /proc, `kill` must be believed.
  return pids === undefined || pids.some((pid) => isLivingMember(pid, group));
}

function listProc(): string[] | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.length === 0 ? undefined : pids;
  } catch {
    return undefined;
  }
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name comes first, in brackets, and may hold anything.
    const [state = '', , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
    return itsGroup === String(group) && !'ZX'.includes(state);
  } catch {
    return false;
  }
}
