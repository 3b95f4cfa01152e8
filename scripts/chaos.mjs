#!/usr/bin/env node
// @ts-check
// `npm run chaos`: does to a running gateway what happens to one in the end, and compares what it did with what is promised.
// `--seconds N` is how long a fault lasts that can last, `--kills N` how often a writer is killed, `--seed N` repeats a run,
// `--only NAME` takes one fault, `--peer NAME` tries another gateway beside ours, `--json` prints the rows, and `--write` makes
// docs/chaos.md: everything, beside all others, at length.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPeer } from '../bench/peers.mjs';
import { measured } from './chaos/common.mjs';
import { FAULTS, NAMES } from './chaos/faults.mjs';
import { page, table } from './chaos/report.mjs';
import { takeTurns } from './chaos/subjects.mjs';
import { root, runMain } from './steps.mjs';

/** @typedef {import('./chaos/common.mjs').Finding} Finding */
/** @typedef {import('./chaos/subjects.mjs').Name} Name */
/** @typedef {{ seconds: number; kills: number; seed: number; gateway: string | undefined }} Settings */

/**
 * Something that goes wrong, and what is looked at then. The first of `subjects` is tried always, the others beside peers,
 * or also always where our promises differ (`differs`); `except` says why a peer is not among them.
 * @typedef {object} Fault
 * @property {string} title
 * @property {readonly Name[]} subjects
 * @property {boolean} [differs]
 * @property {Partial<Record<Name, string>>} [except]
 * @property {(name: Name, settings: Settings) => Promise<Finding[]>} run
 */

/** @typedef {Finding & { fault: string; subject: Name }} Row */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    kills: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', multiple: true, default: Object.keys(FAULTS) },
    peer: { type: 'string', multiple: true },
    gateway: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

// Every request of the SDK's client adds a listener to the one signal of its connection.
process.removeAllListeners('warning');

const { seconds = values.write ? '120' : '10', kills = values.write ? '1000' : '60' } = values;
const peers = values.peer ?? (values.write ? ['mcp-hub', 'mcp-proxy'] : []);

await runMain(async () => {
  if (process.platform !== 'linux') throw new Error('Chaos needs Linux: it finds processes through /proc');
  const settings = {
    seconds: Number(seconds),
    kills: Number(kills),
    seed: Number(values.seed),
    gateway: values.gateway,
  };
  peers.forEach((name) => installPeer(name));
  const began = new Date();
  /** @type {Row[]} */
  const rows = [];
  for (const fault of values.only) rows.push(...(await tryFault(fault, settings)));
  if (values.write) writeFileSync(join(root, 'docs', 'chaos.md'), page(rows, { ...settings, began }));
  process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows, settings));
  const broken = rows.filter(({ isKept, subject }) => isKept === false && subject.startsWith('weir'));
  if (broken.length > 0) throw new Error(`${broken.length} promises were broken`);
});
// A client may still be looking for a gateway that is gone.
process.exit();

/**
 * @param {readonly number[]} turns
 * @returns {Finding[]}
 */
function longestTurn(turns) {
  return turns.length === 0 ? [] : [measured('longest turn', `${Math.max(...turns).toFixed(1)} ms`)];
}

/**
 * @param {string} fault
 * @param {Settings} settings
 */
async function tryFault(fault, settings) {
  const found = FAULTS[fault];
  if (found === undefined)
    throw new Error(`There is no fault called ${fault}; there are ${Object.keys(FAULTS).join(', ')}`);
  const isWanted = (/** @type {Name} */ name) =>
    name.startsWith('weir')
      ? peers.length > 0 || found.differs === true || name === found.subjects[0]
      : peers.includes(name);
  /** @type {Row[]} */
  const rows = [];
  for (const subject of NAMES.filter((name) => found.subjects.includes(name) && isWanted(name))) {
    process.stderr.write(`weir: ${fault}, ${subject} …\n`);
    const findings = await found.run(subject, settings);
    for (const finding of [...findings, ...longestTurn(takeTurns())])
      rows.push({ fault, subject, ...finding });
  }
  return rows;
}
