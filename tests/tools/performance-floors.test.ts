// @module-tag slow
// The guaranteed performance; the benchmark has the goals.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { fixture, startWeir, textOf } from '../support/harness.ts';
import { verifies } from '../verifies.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'reads memory from /proc');

verifies(
  'AGG-PERF-1',
  'twelve servers start within 5 s, are listed within 1 s, and a call takes less than 50 ms',
  async () => {
    const servers = Array.from(
      { length: 12 },
      (_, i) => [`s${i}`, i % 2 === 0 ? fixture('echo') : fixture('modern')] as const,
    );
    const began = performance.now();
    await using weir = startWeir(Object.fromEntries(servers));
    await weir.tools();
    expect(performance.now() - began).toBeLessThan(5000);

    const listed = performance.now();
    await weir.tools();
    expect(performance.now() - listed).toBeLessThan(1000);

    const times: number[] = [];
    for (let i = 0; i < 120; i++) {
      const called = performance.now();
      expect(textOf(await weir.callTool(`s${i % 12}:echo`, { text: 'x' }))).toBe('x');
      times.push(performance.now() - called);
    }
    const median = times.toSorted((a, b) => a - b)[60] ?? Number.NaN;
    expect(median).toBeLessThan(50);
  },
);

onLinux('AGG-PERF-1', 'an idle gateway takes less than 50 MB of memory', async () => {
  await using weir = startWeir({ e: fixture('echo'), m: fixture('modern') });
  await weir.tools();
  const memory = /^VmRSS:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${weir.pid}/status`, 'utf8'))?.[1];
  expect(Number(memory) / 1024).toBeLessThan(50);
});
