// What Linux tells about processes: CPU time to the nanosecond, memory, who belongs to whom.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
export const canMeasureCpu = read('/proc/self/schedstat') !== undefined;

/** CPU time that all threads of these processes have used, in µs. */
export function cpuOf(pids) {
  let nanoseconds = 0;
  for (const pid of pids)
    for (const task of list(`/proc/${pid}/task`))
      nanoseconds += Number((read(`/proc/${pid}/task/${task}/schedstat`) ?? '0').split(' ')[0]);
  return nanoseconds / 1000;
}

/** Sum over the processes, in bytes: resident now, its peak, and the share that is theirs alone or in part. */
export function memoryOf(pids) {
  const sum = (file, field) =>
    pids.reduce((total, pid) => total + kilobytes(read(`/proc/${pid}/${file}`), field), 0) * 1024;
  return {
    resident: sum('status', 'VmRSS'),
    peak: sum('status', 'VmHWM'),
    proportional: sum('smaps_rollup', 'Pss'),
  };
}

/** From here on the peak counts anew. */
export function resetPeak(pids) {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The process, its descendants, and whoever carries its mark in the environment, but none of the measured servers. */
export function ownProcesses(pid, mark) {
  return treeOf(pid, mark)
    .filter((each) => !each.isServer)
    .map((each) => each.pid);
}

/** The same with the servers that it has started. */
export const allProcesses = (pid, mark) => treeOf(pid, mark).map((each) => each.pid);

function treeOf(pid, mark) {
  const processes = list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(describe);
  const tree = new Set([pid]);
  for (let before = 0; before !== tree.size;) {
    before = tree.size;
    for (const each of processes) if (tree.has(each.parent) || each.mark === mark) tree.add(each.pid);
  }
  return processes.filter((each) => tree.has(each.pid));
}

function describe(name) {
  const status = read(`/proc/${name}/status`) ?? '';
  const environment = (read(`/proc/${name}/environ`) ?? '').split('\0');
  return {
    pid: Number(name),
    parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]),
    mark: environment.find((entry) => entry.startsWith('BENCH_MARK='))?.slice('BENCH_MARK='.length),
    isServer: (read(`/proc/${name}/cmdline`) ?? '').split('\0')[1] === SERVER,
  };
}

/** CPU time of all children that ended and were waited for, in ms; steps of 10 ms, so only sums over many mean something. */
export function cpuOfEndedChildren() {
  const fields = (read('/proc/self/stat') ?? '').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function kilobytes(text = '', field = '') {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function list(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
