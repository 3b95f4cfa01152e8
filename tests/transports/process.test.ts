import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describeConnection, FIXTURE } from './connection.case.ts';

describeConnection({
  name: 'a process',
  skipped: process.platform === 'linux' ? undefined : 'finds processes by /proc: only on Linux',
  tellsLoss: true,
  hasStderr: true,
  exited: /exited with code 3$/,
  killed: /was killed by SIGKILL$/,
  start: async () => {
    const mark = randomUUID();
    return {
      config: { command: process.execPath, args: [FIXTURE, 'stdio', mark] },
      kill: async () => {
        for (const pid of processesOf(mark)) process.kill(pid, 'SIGKILL');
      },
      leftovers: async () => processesOf(mark).join(' '),
    };
  },
});

/** The ids of the processes with this argument. */
function processesOf(mark: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandOf(pid).includes(mark)).map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
