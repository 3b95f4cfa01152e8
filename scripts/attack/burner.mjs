// @ts-check
// Burns what a hostile peer has burnt, at the same times, and is connected to nobody. The first line of stdin is a list of `Burn` as JSON.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const lines = createInterface({ input: process.stdin });
lines.once('line', (line) => void burn(JSON.parse(line)));
lines.once('close', () => process.exit());

/** @param {readonly import('./arena.mjs').Burn[]} burns */
async function burn(burns) {
  const began = performance.now();
  let due = used();
  for (const { at, ms } of burns) {
    await delay(Math.max(0, began + at - performance.now()));
    due += ms;
    while (used() < due);
  }
}

function used() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
