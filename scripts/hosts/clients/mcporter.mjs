// @ts-check
import { join } from 'node:path';
import { binOf } from '../install.mjs';
import { GREETING } from '../kit-texts.mjs';
import { entry } from '../mcp-servers.mjs';
import { runClient } from '../run-client.mjs';
import { writeFiles } from '../scene.mjs';
import { findTool } from '../seen.mjs';

/** @type {import('../clients.mjs').Client} */
export const mcporter = {
  name: 'mcporter',
  packages: { mcporter: '0.12.3' },
  transports: ['stdio', 'http'],
  unable: { changed: 'each command is a new connection' },
  run,
};

/** @param {import('../scene.mjs').Scene} scene */
async function run(scene) {
  const config = join(scene.home, 'mcporter.json');
  writeFiles({ [config]: { mcpServers: { weir: entry(scene) } } });
  const ask = async (/** @type {string[]} */ ...args) => {
    const command = [binOf(scene.folder, 'mcporter'), '--config', config, ...args];
    const { stdout, stderr } = await runClient(scene, { file: scene.node, args: command });
    return `${stdout}${stderr}`;
  };
  const listed = await ask('list', 'weir', '--json');
  const tools = [...listed.matchAll(/"name": "([^"]+)"/g)].map(([, name = '']) => name);
  const call = (/** @type {string} */ tool, /** @type {string[]} */ ...args) =>
    ask('call', `weir.${findTool(tools, tool)}`, ...args, '--output', 'json');
  return {
    tools,
    instructions: listed,
    echo: await call('kit_echo', `text=${GREETING}`),
    failure: await call('kit_fail'),
    changed: false,
    asked: await call('kit_ask'),
  };
}
