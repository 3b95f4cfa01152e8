import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect } from 'vitest';
import { GATES } from '../../bench/gates.mjs';
import { hasLibraries } from '../../bench/server/contestants.mjs';
import { verifies } from '../verifies.ts';

interface Gate {
  measure: string;
  figure: string;
  atMost?: number;
  atLeast?: number;
  steady?: boolean;
  library?: string;
}

interface JudgedGate extends Gate {
  value: number;
}

const bench = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));
// Figures that only the long run measures.
const FULL_ONLY = ['CPU per MB at 64 MB ÷ at 10 MB'];
const steady = (GATES as Gate[]).filter((gate) => gate.steady === true && !FULL_ONLY.includes(gate.figure));
const measures = [...new Set(steady.map(({ measure }) => measure))];
const cannotMeasure = existsSync('/proc/self/schedstat')
  ? undefined
  : 'no /proc/self/schedstat on this system';
const withoutLibrary = hasLibraries()
  ? undefined
  : 'the libraries of bench/server/libraries are not installed';
const gates = new Map<string, JudgedGate>();
let complaints = '';

beforeAll(() => {
  if (cannotMeasure !== undefined) return;
  const args = [bench, '--quick', '--json', ...measures.flatMap((name) => ['--only', name])];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  complaints = stderr;
  if (stdout === '') throw new Error(`The benchmark printed nothing.\n${stderr}`);
  const report = JSON.parse(stdout) as { gates: JudgedGate[] };
  for (const gate of report.gates) gates.set(`${gate.measure}: ${gate.figure}`, gate);
}, 240_000);

for (const { measure, figure, atMost, atLeast, library } of steady) {
  const bar = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  const reason = cannotMeasure ?? (library === undefined ? undefined : withoutLibrary);
  verifies.skipIf(reason)(idOf(measure), `${measure}: ${figure} is ${bar}`, () => {
    const gate = gates.get(`${measure}: ${figure}`);
    if (gate === undefined) throw new Error(`Not measured.\n${complaints}`);
    expect(gate.value).toBeLessThanOrEqual(atMost ?? Infinity);
    expect(gate.value).toBeGreaterThanOrEqual(atLeast ?? -Infinity);
  });
}

function idOf(measure: string): string {
  if (measure === 'server-memory') return 'KIT-TRANSPORT-1';
  if (measure.startsWith('server-')) return 'KIT-MODULE-1';
  return measure.startsWith('http-') ? 'PERF-2' : 'PERF-1';
}
