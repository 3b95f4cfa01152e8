// @ts-check
// Clients on the command line, each of whose commands asks one thing and ends.
import { GREETING } from './kit-texts.mjs';
import { runClient } from './run-client.mjs';
import { findTool } from './seen.mjs';

/**
 * @typedef {object} Commands Arguments for Node.
 * @property {string[]} list Prints all tools as JSON.
 * @property {(tool: string, args: Record<string, string>) => string[]} call
 */

/**
 * @param {import('./scene.mjs').Scene} scene
 * @param {Commands} commands
 * @returns {Promise<import('./seen.mjs').Seen>}
 */
export async function askByCommand(scene, { list, call }) {
  const ask = async (/** @type {string[]} */ args) => {
    const { stdout, stderr } = await runClient(scene, { file: scene.node, args });
    return `${stdout}${stderr}`;
  };
  const listed = await ask(list);
  const tools = [...listed.matchAll(/"name": ?"([^"]+)"/g)].map(([, name = '']) => name);
  const use = (/** @type {string} */ tool, args = {}) => ask(call(findTool(tools, tool) ?? tool, args));
  return {
    tools,
    instructions: listed,
    echo: await use('kit_echo', { text: GREETING }),
    failure: await use('kit_fail'),
    changed: false,
    asked: await use('kit_ask'),
  };
}
