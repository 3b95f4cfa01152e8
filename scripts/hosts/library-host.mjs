// @ts-check
// Clients that are libraries: a driver of ours uses them as their documentation says, in a process of its own.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADDED, GREETING } from './kit-texts.mjs';
import { runClient } from './run-client.mjs';

/** @typedef {import('./scene.mjs').Scene} Scene */

/** Begins the line of a driver's output that says what it saw. */
const MARK = 'SEEN ';

/**
 * Runs a driver that says what it saw.
 * @param {Scene} scene
 * @param {string} driver Name of the file in drivers/, without its ending.
 * @param {object} [more] What this driver wants to know besides.
 * @returns {Promise<import('./seen.mjs').Seen>}
 */
export async function runDriver(scene, driver, more = {}) {
  const { code, stdout, stderr } = await runClient(scene, driverCommand(scene, driver, more));
  const line = stdout.split('\n').findLast((text) => text.startsWith(MARK));
  if (line === undefined)
    throw new Error(`the driver ended with ${code}: ${`${stdout}${stderr}`.slice(-600)}`);
  const empty = { tools: [], instructions: '', echo: '', failure: '', changed: false, asked: '' };
  return { ...empty, ...JSON.parse(line.slice(MARK.length)) };
}

/**
 * Returns what starts a driver; its first argument is its task.
 * @param {Scene} scene
 * @param {string} driver
 * @param {object} more
 */
export function driverCommand(scene, driver, more) {
  // Node looks for packages beside the script, so it is put beside them.
  for (const name of [driver, 'walk'])
    copyFileSync(
      fileURLToPath(new URL(`drivers/${name}.mjs`, import.meta.url)),
      join(scene.folder, `${name}.mjs`),
    );
  const script = join(scene.folder, `${driver}.mjs`);
  const { transport, stdio, http } = scene;
  const task = { transport, stdio, http, greeting: GREETING, added: ADDED, ...more };
  return { file: scene.node, args: [script, JSON.stringify(task)] };
}
