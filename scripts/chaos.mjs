#!/usr/bin/env node
// @ts-check
// `npm run chaos`: does to a running gateway what happens to one in the end, and compares what it did with what is promised.
// `--seconds N` is how long each fault lasts, `--seed N` repeats a run, `--only NAME` takes one fault, `--json` prints the rows.
import { parseArgs } from 'node:util';
import { killedServers } from './chaos/killed-servers.mjs';
import { runMain } from './steps.mjs';

/** @typedef {{ promise: string; happened: string; isKept: boolean }} Finding */
/** @typedef {{ seconds: number; seed: number; gateway: string | undefined }} Settings */

/** @type {Record<string, (settings: Settings) => Promise<Finding[]>>} */
const FAULTS = { 'killed-servers': killedServers };

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', multiple: true, default: Object.keys(FAULTS) },
    gateway: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

await runMain(async () => {
  const settings = { seconds: Number(values.seconds), seed: Number(values.seed), gateway: values.gateway };
  const rows = [];
  for (const name of values.only) {
    const fault = FAULTS[name];
    if (fault === undefined)
      throw new Error(`There is no fault called ${name}; there are ${Object.keys(FAULTS).join(', ')}`);
    for (const finding of await fault(settings)) rows.push({ fault: name, ...finding });
  }
  process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows, settings));
  if (rows.some(({ isKept }) => !isKept)) throw new Error('A promise was broken');
});

/**
 * @param {(Finding & { fault: string })[]} rows
 * @param {Settings} settings
 */
function table(rows, { seconds, seed }) {
  const lines = rows.map(
    ({ fault, promise, happened, isKept }) =>
      `| ${fault} | ${promise} | ${happened} | ${isKept ? 'kept' : '**broken**'} |`,
  );
  return `${seconds} s a fault, seed ${seed}\n\n| fault | promised | happened | |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}
