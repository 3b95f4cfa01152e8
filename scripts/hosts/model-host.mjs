// @ts-check
// Hosts that need a model: they get the scripted one, and what they send it is what they saw.
import { ADDED, GREETING } from './kit-texts.mjs';
import { startModel } from './model/server.mjs';
import { runClient } from './run-client.mjs';
import { writeFiles } from './scene.mjs';
import { findTool } from './seen.mjs';

/** @typedef {import('./scene.mjs').Scene} Scene */
/** @typedef {{ file: string; args: string[]; env?: Record<string, string>; files?: Record<string, string | object>; input?: string }} Start */
/** @typedef {(scene: Scene, url: string) => Start} Starter How the host is started on a model at `url`. */

export const PROMPT = 'Follow your script.';

/** Tools that the model calls, in this order. */
const SCRIPT = [
  { tool: 'kit_echo', args: { text: GREETING } },
  { tool: 'kit_fail', args: {} },
  { tool: 'kit_add_tool', args: {} },
  { tool: 'kit_ask', args: {} },
];

/**
 * @param {Scene} scene
 * @param {Starter} start
 * @returns {Promise<import('./seen.mjs').Seen>}
 */
export async function runWithModel(scene, start) {
  const model = await startModel(follow);
  try {
    const { files = {}, ...command } = start(scene, model.url);
    writeFiles(files);
    const ended = await runClient(scene, command);
    if (process.env['WEIR_HOSTS_DUMP'] !== undefined)
      writeFiles({ [process.env['WEIR_HOSTS_DUMP']]: { ended, ...model } });
    return seenBy(model.turns, ended);
  } finally {
    await model.close();
  }
}

/** @param {import('./model/server.mjs').Turn} turn */
function follow({ tools, results }) {
  const step = SCRIPT[results.length];
  const call = step === undefined ? undefined : findTool(tools, step.tool);
  if (step === undefined || call === undefined) return { text: `Done after ${results.length} calls.` };
  return { call, args: step.args, text: '' };
}

/**
 * @param {import('./model/server.mjs').Turn[]} turns
 * @param {import('./run-client.mjs').Ended} ended
 * @returns {import('./seen.mjs').Seen}
 */
function seenBy(turns, { code, stdout, stderr }) {
  const [first] = turns.filter(({ tools }) => findTool(tools, 'kit_echo') !== undefined);
  const last = turns.toSorted((one, other) => one.results.length - other.results.length).at(-1);
  const [echo = '', failure = '', , asked = ''] = last?.results ?? [];
  const isSilent = turns.length === 0;
  return {
    tools: first?.tools ?? [],
    atOnce: turns.find(({ tools }) => tools.length > 0)?.tools ?? [],
    instructions: turns.map(({ text }) => text).join('\n'),
    echo,
    failure,
    asked,
    changed: turns.some(({ tools }) => findTool(tools, ADDED) !== undefined),
    ...(isSilent && {
      note: `asked the model nothing, exit code ${code}: ${`${stderr}${stdout}`.slice(-300)}`,
    }),
  };
}
