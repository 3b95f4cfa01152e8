// @ts-check
// Burns a share of one processor and is connected to nobody: `burner.mjs SHARE`, a number between 0 and 1.
import { setTimeout as delay } from 'node:timers/promises';

process.stdin.resume().once('end', () => process.exit());

const PERIOD_MS = 20;
const share = Math.min(Number(process.argv[2]), 1);
/** Milliseconds of processor time that are due, counted from the beginning: a busy machine is caught up with. */
const began = performance.now();
for (;;) {
  const due = (performance.now() - began) * share;
  for (let i = 0; used() < due && i < 1e5; i++);
  await delay(share === 1 ? 0 : PERIOD_MS * (1 - share));
}

function used() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
