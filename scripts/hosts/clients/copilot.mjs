// @ts-check
import { join } from 'node:path';
import { binOf } from '../install.mjs';
import { entry } from '../mcp-servers.mjs';
import { PROMPT, runWithModel } from '../model-host.mjs';

/** @type {import('../clients.mjs').Client} */
export const copilot = {
  name: 'GitHub Copilot CLI',
  packages: { '@github/copilot': '1.0.102' },
  transports: ['stdio', 'http'],
  needsModel: true,
  run: (scene) => runWithModel(scene, start),
};

/** @type {import('../model-host.mjs').Starter} */
function start(scene, url) {
  const options = ['--allow-all-tools', '--allow-all-mcp-server-instructions', '--no-auto-update'];
  return {
    file: scene.node,
    args: [binOf(scene.folder, '@github/copilot'), '-p', PROMPT, ...options],
    files: {
      [join(scene.home, '.copilot', 'mcp-config.json')]: {
        mcpServers: { weir: entry(scene, { tools: ['*'] }) },
      },
    },
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'scripted',
    },
  };
}
